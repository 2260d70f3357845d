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

static inline uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, 8);
  return word;
}

// Several pages, because the CPU fetches memory ahead within one.
enum { LANE = 16384 };

// How as many zeros as a lane has bytes change the register: they multiply it by x to the power of 8 * LANE, modulo the
// polynomial.
static inline uint32_t pass_lane(uint32_t register_) {
  uint32_t factor = 0xBF455269, product = 0;
  for (int bit = 0; bit < 32; bit++) {
    product ^= register_ & (0 - (factor >> 31));
    factor <<= 1;
    register_ = register_ >> 1 ^ (0x82F63B78 & (0 - (register_ & 1)));
  }
  return product;
}

WITH_INSTRUCTION uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count) {
  const unsigned char *next = bytes;
  // The width in which x86 keeps it, so that no step has to convert it.
  uint64_t sum = register_;
  // Three lanes in parallel: an instruction waits for the one before it in its lane, but a CPU can start one in each
  // cycle.
  for (; count >= 3 * LANE; count -= 3 * LANE, next += 3 * LANE) {
    uint64_t second = 0, third = 0;
    for (size_t place = 0; place < LANE; place += 8) {
      sum = ADD_WORD(sum, word_at(next + place));
      second = ADD_WORD(second, word_at(next + LANE + place));
      third = ADD_WORD(third, word_at(next + 2 * LANE + place));
    }
    second ^= pass_lane((uint32_t)sum);
    sum = third ^ pass_lane((uint32_t)second);
  }
  for (; count >= 8; count -= 8, next += 8) sum = ADD_WORD(sum, word_at(next));
  for (; count > 0; count--, next++) sum = ADD_BYTE(sum, *next);
  return (uint32_t)sum;
}

#else

#include <stdlib.h>

bool filedb_has_crc32c(void) { return false; }

uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count) { abort(); }

#endif
