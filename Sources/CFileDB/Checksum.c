#include "include/CFileDB.h"

#if defined(__x86_64__)

#include <nmmintrin.h>

#define WITH_INSTRUCTION __attribute__((target("sse4.2")))
#define ADD_WORD(sum, word) _mm_crc32_u64(sum, word)
#define ADD_BYTE(sum, byte) _mm_crc32_u8((uint32_t)(sum), byte)

// The C runtime asked the CPU when the process started.
bool filedb_has_crc32c(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)

#include <arm_acle.h>

#define WITH_INSTRUCTION __attribute__((target("+crc")))
#define ADD_WORD(sum, word) __crc32cd((uint32_t)(sum), word)
#define ADD_BYTE(sum, byte) __crc32cb((uint32_t)(sum), byte)

#if defined(__APPLE__)
bool filedb_has_crc32c(void) { return true; }
#else
#include <sys/auxv.h>

// The kernel left the answer in the memory of the process.
bool filedb_has_crc32c(void) { return getauxval(AT_HWCAP) & HWCAP_CRC32; }
#endif

#endif

#ifdef WITH_INSTRUCTION

#include <string.h>

// Three streams side by side would be up to twice as fast, but one already outruns any drive.
WITH_INSTRUCTION uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  // The width in which x86 keeps it, so that no step has to narrow it.
  uint64_t sum = register_;
  for (; count >= 8; count -= 8, next += 8) {
    uint64_t word;
    memcpy(&word, next, 8);
    sum = ADD_WORD(sum, word);
  }
  for (; count > 0; count--, next++) sum = ADD_BYTE(sum, *next);
  return (uint32_t)sum;
}

#else

#include <stdlib.h>

bool filedb_has_crc32c(void) { return false; }

uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count) { abort(); }

#endif
