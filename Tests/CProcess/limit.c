#include <stdlib.h>
#include <sys/resource.h>

#if defined(__APPLE__)
#include <sys/syslimits.h>
#endif

// All tests begun at once open some 5,500 files. Many systems let a process open 1,024 or 256 unless it asks for
// more.
__attribute__((constructor)) static void allow_more_open_files(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
#if defined(__APPLE__)
  if (limit.rlim_cur > OPEN_MAX) limit.rlim_cur = OPEN_MAX;
#endif
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Swift Testing begins all tests at once by default. Then each of two thousand tests waits for the others, a test of
// processes waits for minutes, and the run takes longer. `swift test` has an option for this that is new; a value
// from the environment of the caller wins.
__attribute__((constructor)) static void begin_few_tests_at_once(void) {
  setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "6", 0);
}
