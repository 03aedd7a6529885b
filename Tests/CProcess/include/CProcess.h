#ifndef CPROCESS_H
#define CPROCESS_H

#include <sys/types.h>

/// Starts the program at the path `arguments[0]`, in a process group of its own and with no signal blocked.
///
/// `streams` are the open files that become its standard streams; -1 stands for /dev/null. It gets no other
/// open file. Without a `folder` it starts in the current one. Returns 0, or a number of errno.
int cprocess_start(pid_t *process, char *const arguments[], char *const environment[],
                 const char *folder, const int streams[3]);

#endif
