#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// Extends the CRC32C (Castagnoli, RFC 3720 appendix B.4) `crc` over `length` bytes. Begin with 0.
/// Uses the processor's instruction where there is one, else tables.
uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t length);

/// The same by tables alone: what a processor without the instruction computes.
uint32_t cchecksum_crc32c_portable(uint32_t crc, const void *bytes, size_t length);

#endif
