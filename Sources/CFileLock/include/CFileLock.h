#ifndef CFILELOCK_H
#define CFILELOCK_H

#include <stdint.h>

/// Locks of one byte of a file that belong to an open file and end with it: Linux alone has them.
/// Swift does not show their constants. Elsewhere every call fails with ENOTSUP.

/// Locks a byte. 1 if it is locked now, 0 if another open file has it, or -1 and errno.
int cfilelock_take(int descriptor, uint64_t byte);

/// Releases a byte that the open file has locked. 1, or -1 and errno.
int cfilelock_release(int descriptor, uint64_t byte);

/// Whether another open file has locked a byte. 1, 0, or -1 and errno.
int cfilelock_is_taken(int descriptor, uint64_t byte);

/// Whether this kernel alone keeps the locks of the file: a file server may lose them. 1, 0, or -1
/// and errno.
int cfilelock_is_local(int descriptor);

/// The same for the file system that holds a path.
int cfilelock_path_is_local(const char *path);

#endif
