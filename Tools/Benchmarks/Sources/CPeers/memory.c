#include "CPeers.h"

#ifdef __GLIBC__
#include <malloc.h>
void peers_release_memory(void) { malloc_trim(0); }
#else
void peers_release_memory(void) {}
#endif
