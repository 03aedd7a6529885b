#include <stdlib.h>
#include "cheap.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

unsigned long bytes_in_use(void) {
#if defined(__GLIBC__)
  struct mallinfo2 memory = mallinfo2();
  return memory.uordblks + memory.hblkhd;
#else
  return 0;
#endif
}
