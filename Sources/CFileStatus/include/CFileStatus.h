#ifndef CFILESTATUS_H
#define CFILESTATUS_H

#include <stdint.h>

/// What the system says of a file, its times left out.
///
/// Since Linux 6.13 a file whose times were asked for gets an exact one with its next write, which
/// the file system must record: a commit that asked took 1.4 times as long. `statx` leaves them out.
struct cfilestatus {
  uint32_t mode;
  uint32_t owner;
  uint64_t links;
  uint64_t size;
  uint64_t device;
  uint64_t number;
};

/// Of the open file `descriptor`. 0, or -1 and errno.
int cfilestatus_of_descriptor(int descriptor, struct cfilestatus *status);

/// Asks the file system again for what the kernel keeps of an open file, such as its size.
void cfilestatus_refresh(int descriptor);

/// Of the file that `path` leads to. 0, or -1 and errno.
int cfilestatus_of_path(const char *path, struct cfilestatus *status);

#endif
