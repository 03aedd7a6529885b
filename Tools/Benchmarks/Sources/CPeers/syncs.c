#ifdef __linux__
#define _GNU_SOURCE
#endif

#include "CPeers.h"

#include <stdatomic.h>

static atomic_ullong nanoseconds;

uint64_t peers_sync_nanoseconds(void) { return atomic_load(&nanoseconds); }

#ifdef __linux__

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int timed(long number, int descriptor) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  int result = (int)syscall(number, descriptor);
  clock_gettime(CLOCK_MONOTONIC, &end);
  atomic_fetch_add(&nanoseconds, (unsigned long long)((end.tv_sec - begin.tv_sec) * 1000000000ll +
                                                      (end.tv_nsec - begin.tv_nsec)));
  return result;
}

// Names of the executable come before those of the C library: every sync of every contender comes
// through here, and none is changed.
int fsync(int descriptor) { return timed(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return timed(SYS_fdatasync, descriptor); }

#endif
