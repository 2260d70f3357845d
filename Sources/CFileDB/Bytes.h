// Searches in canonical bytes.
#ifndef FILEDB_BYTES_H
#define FILEDB_BYTES_H

#include "include/CFileDB.h"

#include <string.h>

#if defined(FILEDB_PORTABLE)
#elif defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// Each of these searches sixteen bytes at once. It returns the place of the first match, or 16.
#if !defined(FILEDB_PORTABLE) && defined(__SSE2__)

static inline unsigned first_special(const unsigned char *bytes) {
  __m128i all = _mm_loadu_si128((const __m128i *)bytes);
  // Signed, so that non-ASCII bytes are below the space, too.
  __m128i low = _mm_cmplt_epi8(all, _mm_set1_epi8(' '));
  // `<` and `>` differ in one bit.
  __m128i tag = _mm_cmpeq_epi8(_mm_or_si128(all, _mm_set1_epi8(2)), _mm_set1_epi8('>'));
  __m128i escape = _mm_cmpeq_epi8(all, _mm_set1_epi8('&'));
  return (unsigned)__builtin_ctz(
      0x10000u | (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(low, tag), escape)));
}

// A bit for each of sixteen places: whether the second byte follows the first at this distance.
static inline uint32_t places_of_pair(
    const unsigned char *bytes, unsigned char first, size_t distance, unsigned char second) {
  __m128i one = _mm_loadu_si128((const __m128i *)bytes);
  __m128i other = _mm_loadu_si128((const __m128i *)(bytes + distance));
  return (uint32_t)_mm_movemask_epi8(_mm_and_si128(
      _mm_cmpeq_epi8(one, _mm_set1_epi8((char)first)), _mm_cmpeq_epi8(other, _mm_set1_epi8((char)second))));
}

static inline unsigned first_other_than_digit(const unsigned char *bytes) {
  __m128i all = _mm_loadu_si128((const __m128i *)bytes);
  __m128i others = _mm_or_si128(
      _mm_cmplt_epi8(all, _mm_set1_epi8('0')), _mm_cmpgt_epi8(all, _mm_set1_epi8('9')));
  return (unsigned)__builtin_ctz(0x10000u | (unsigned)_mm_movemask_epi8(others));
}

#elif !defined(FILEDB_PORTABLE) && defined(__aarch64__)

// Four bits for each byte, because there is no instruction that collects one.
static inline unsigned first_set(uint8x16_t found) {
  uint8x8_t narrow = vshrn_n_u16(vreinterpretq_u16_u8(found), 4);
  uint64_t bits = vget_lane_u64(vreinterpret_u64_u8(narrow), 0);
  return bits == 0 ? 16 : (unsigned)__builtin_ctzll(bits) >> 2;
}

// A bit for each of sixteen places: whether the second byte follows the first at this distance.
static inline uint32_t places_of_pair(
    const unsigned char *bytes, unsigned char first, size_t distance, unsigned char second) {
  static const unsigned char weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  uint8x16_t found = vandq_u8(
      vceqq_u8(vld1q_u8(bytes), vdupq_n_u8(first)), vceqq_u8(vld1q_u8(bytes + distance), vdupq_n_u8(second)));
  uint8x16_t bits = vandq_u8(found, vld1q_u8(weights));
  return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
}

static inline unsigned first_special(const unsigned char *bytes) {
  uint8x16_t all = vld1q_u8(bytes);
  // Signed, so that non-ASCII bytes are below the space, too.
  uint8x16_t low = vcltq_s8(vreinterpretq_s8_u8(all), vdupq_n_s8(' '));
  // `<` and `>` differ in one bit.
  uint8x16_t tag = vceqq_u8(vorrq_u8(all, vdupq_n_u8(2)), vdupq_n_u8('>'));
  uint8x16_t escape = vceqq_u8(all, vdupq_n_u8('&'));
  return first_set(vorrq_u8(vorrq_u8(low, tag), escape));
}

static inline unsigned first_other_than_digit(const unsigned char *bytes) {
  uint8x16_t values = vsubq_u8(vld1q_u8(bytes), vdupq_n_u8('0'));
  return first_set(vcgtq_u8(values, vdupq_n_u8(9)));
}

#else

static inline unsigned first_special(const unsigned char *bytes) {
  unsigned place = 0;
  while (place < 16 && bytes[place] >= ' ' && bytes[place] < 0x80 && bytes[place] != '<' &&
         bytes[place] != '>' && bytes[place] != '&') {
    place++;
  }
  return place;
}

// A bit for each of sixteen places: whether the second byte follows the first at this distance.
static inline uint32_t places_of_pair(
    const unsigned char *bytes, unsigned char first, size_t distance, unsigned char second) {
  uint32_t places = 0;
  for (unsigned place = 0; place < 16; place++) {
    if (bytes[place] == first && bytes[place + distance] == second) places |= 1u << place;
  }
  return places;
}

static inline unsigned first_other_than_digit(const unsigned char *bytes) {
  unsigned place = 0;
  while (place < 16 && bytes[place] >= '0' && bytes[place] <= '9') place++;
  return place;
}

#endif

#endif
