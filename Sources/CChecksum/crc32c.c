#include "CChecksum.h"

#include <stdatomic.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#define HAVE_INSTRUCTION 1
#define INSTRUCTION_TARGET __attribute__((target("sse4.2")))
#elif defined(__aarch64__)
#include <arm_acle.h>
#define HAVE_INSTRUCTION 1
#if defined(__ARM_FEATURE_CRC32)
#define INSTRUCTION_TARGET
#else
#define INSTRUCTION_TARGET __attribute__((target("crc")))
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif
#else
#define HAVE_INSTRUCTION 0
#endif

// The Castagnoli polynomial 0x1EDC6F41, bit-reversed.
#define POLYNOMIAL 0x82F63B78u

// tables[k][b]: the effect of byte b with k further bytes behind it ("slicing by eight").
static uint32_t tables[8][256];

// 0: nobody has begun; 1: being filled; 2: ready to be read.
static atomic_int tables_state;

static void fill_tables(void) {
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++) {
      value = (value >> 1) ^ ((value & 1) ? POLYNOMIAL : 0);
    }
    tables[0][byte] = value;
  }
  for (int k = 1; k < 8; k++) {
    for (int byte = 0; byte < 256; byte++) {
      uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
}

static void require_tables(void) {
  if (atomic_load_explicit(&tables_state, memory_order_acquire) == 2) return;
  int nobody = 0;
  if (atomic_compare_exchange_strong(&tables_state, &nobody, 1)) {
    fill_tables();
    atomic_store_explicit(&tables_state, 2, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&tables_state, memory_order_acquire) != 2) {
  }
}

uint32_t cchecksum_crc32c_portable(uint32_t crc, const void *bytes, size_t length) {
  require_tables();
  const uint8_t *at = bytes;
  uint32_t value = ~crc;
  while (length >= 8) {
    // Byte by byte, so that the order of the processor does not matter.
    uint32_t low = value ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
                            (uint32_t)at[3] << 24);
    value = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^
            tables[5][(low >> 16) & 0xFF] ^ tables[4][low >> 24] ^ tables[3][at[4]] ^
            tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
    at += 8;
    length -= 8;
  }
  while (length > 0) {
    value = (value >> 8) ^ tables[0][(value ^ *at) & 0xFF];
    at += 1;
    length -= 1;
  }
  return ~value;
}

#if HAVE_INSTRUCTION

#if defined(__x86_64__)
#define STEP8(value, word) (_mm_crc32_u64((value), (word)))
#define STEP4(value, word) (_mm_crc32_u32((value), (word)))
#define STEP1(value, byte) (_mm_crc32_u8((value), (byte)))
#else
#define STEP8(value, word) ((uint64_t)__crc32cd((uint32_t)(value), (word)))
#define STEP4(value, word) (__crc32cw((value), (word)))
#define STEP1(value, byte) (__crc32cb((value), (byte)))
#endif

INSTRUCTION_TARGET
static inline uint64_t load8(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, 8);
  return word;
}

INSTRUCTION_TARGET
static uint32_t crc32c_instruction(uint32_t crc, const void *bytes, size_t length) {
  const uint8_t *at = bytes;
  const uint8_t *const end = at + length;
  // As wide as the instruction's result, whose upper half is zero: no step narrows it.
  uint64_t value = (uint32_t)~crc;
  while (end - at >= 32) {
    value = STEP8(value, load8(at));
    value = STEP8(value, load8(at + 8));
    value = STEP8(value, load8(at + 16));
    value = STEP8(value, load8(at + 24));
    at += 32;
  }
  while (end - at >= 8) {
    value = STEP8(value, load8(at));
    at += 8;
  }
  if (end - at >= 4) {
    uint32_t word;
    memcpy(&word, at, 4);
    value = STEP4((uint32_t)value, word);
    at += 4;
  }
  while (at < end) {
    value = STEP1((uint32_t)value, *at);
    at += 1;
  }
  return ~(uint32_t)value;
}

static int has_instruction(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("sse4.2") ? 1 : 0;
#elif defined(__APPLE__) || defined(__ARM_FEATURE_CRC32)
  return 1;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) ? 1 : 0;
#else
  return 0;
#endif
}

// 0: not asked yet; 1: tables; 2: the instruction. Asking twice gives the same answer.
static atomic_int way;

#endif

#if HAVE_INSTRUCTION
static int is_accelerated(void) {
  int known = atomic_load_explicit(&way, memory_order_relaxed);
  if (known == 0) {
    known = has_instruction() ? 2 : 1;
    atomic_store_explicit(&way, known, memory_order_relaxed);
  }
  return known == 2;
}
#endif

uint32_t cchecksum_crc32c(uint32_t crc, const void *bytes, size_t length) {
#if HAVE_INSTRUCTION
  if (is_accelerated()) return crc32c_instruction(crc, bytes, length);
#endif
  return cchecksum_crc32c_portable(crc, bytes, length);
}
