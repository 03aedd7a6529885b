#include "CChecksum.h"
uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t length) { return crc; }
