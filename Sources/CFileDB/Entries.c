#include "include/CFileDB.h"

#include <stdlib.h>
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

enum {
  MOST_KEYS = 64,
  // The most bytes of a key's lines, from the tabs before it to the `<` of the value's tag.
  MOST_BYTES = 95,
  // The number of bytes that are read after a place without checking for the end again.
  MARGIN = 128,
};

struct known_key {
  unsigned char length;
  unsigned char lines[MOST_BYTES];
};

struct filedb_shape {
  size_t most_bytes;
  uint32_t number_key;
  uint32_t count;
  struct known_key keys[MOST_KEYS];
};

struct filedb_shape *filedb_shape_make(size_t most_bytes) {
  struct filedb_shape *shape = calloc(1, sizeof *shape);
  if (shape == NULL) abort();
  shape->most_bytes = most_bytes;
  shape->number_key = UINT32_MAX;
  return shape;
}

void filedb_shape_free(struct filedb_shape *shape) { free(shape); }

bool filedb_shape_insert(
    struct filedb_shape *shape, uint32_t place, const void *lines, size_t length, bool is_number) {
  if (shape->count == MOST_KEYS || length > MOST_BYTES || length < 16) return false;
  struct known_key *key = &shape->keys[place];
  memmove(key + 1, key, (shape->count - place) * sizeof *key);
  key->length = (unsigned char)length;
  memcpy(key->lines, lines, length);
  shape->count++;
  if (shape->number_key != UINT32_MAX && shape->number_key >= place) shape->number_key++;
  if (is_number) shape->number_key = place;
  return true;
}

static inline bool stands_at(const struct known_key *key, const unsigned char *bytes) {
  unsigned last = key->length - 16u;
  // The last sixteen bytes may overlap those before.
  for (unsigned place = 0; place < last; place += 16) {
    if (memcmp(bytes + place, key->lines + place, 16) != 0) return false;
  }
  return memcmp(bytes + last, key->lines + last, 16) == 0;
}

#define HAS(bytes, text) (memcmp(bytes, text, sizeof text - 1) == 0)

// The length of an escape of the writer; 0 for any other.
static inline size_t length_of_escape(const unsigned char *bytes) {
  if (HAS(bytes, "&lt;") || HAS(bytes, "&gt;")) return 4;
  return HAS(bytes, "&amp;") || HAS(bytes, "&#13;") ? 5 : 0;
}

static inline bool continues(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// The length of a non-ASCII character; 0 if it is not UTF-8 (Unicode, table 3-7), or if XML does not allow it (U+FFFE
// and U+FFFF).
static inline size_t length_of_character(const unsigned char *bytes) {
  unsigned char lead = bytes[0], second = bytes[1];
  if (lead < 0xC2 || lead > 0xF4 || !continues(second)) return 0;
  if (lead < 0xE0) return 2;
  if (!continues(bytes[2])) return 0;
  if (lead < 0xF0) {
    if (lead == 0xE0 && second < 0xA0) return 0;
    if (lead == 0xED && second > 0x9F) return 0;
    if (lead == 0xEF && second == 0xBF && bytes[2] >= 0xBE) return 0;
    return 3;
  }
  if (!continues(bytes[3])) return 0;
  if (lead == 0xF0 && second < 0x90) return 0;
  if (lead == 0xF4 && second > 0x8F) return 0;
  return 4;
}

// Each of these returns the length of a value's text, or a negative number if the caller must check the value.

static inline ptrdiff_t length_of_text(const unsigned char *text, size_t room, size_t most_bytes) {
  size_t place = 0, excess = 0;
  while (room - place > MARGIN) {
    unsigned plain = first_special(text + place);
    place += plain;
    if (plain == 16) continue;
    unsigned char byte = text[place];
    if (byte == '<') return place - excess <= most_bytes ? (ptrdiff_t)place : -1;
    if (byte == '&') {
      size_t length = length_of_escape(text + place);
      if (length == 0) return -1;
      place += length;
      excess += length - 1;
    } else if (byte >= 0x80) {
      size_t length = length_of_character(text + place);
      if (length == 0) return -1;
      place += length;
    } else if (byte == '\t' || byte == '\n') {
      place++;
    } else {
      return -1;
    }
  }
  return -1;
}

static inline ptrdiff_t length_of_integer(const unsigned char *text) {
  unsigned sign = text[0] == '-';
  unsigned digits = first_other_than_digit(text + sign);
  if (digits == 0 || digits == 16) return -1;
  if (text[sign] == '0' && (digits > 1 || sign == 1)) return -1;
  return sign + digits;
}

// A decimal of at most fifteen digits, as in `CanonicalBytes.endOfPlainReal`.
static inline ptrdiff_t length_of_real(const unsigned char *text) {
  unsigned sign = text[0] == '-';
  const unsigned char *number = text + sign;
  unsigned point = first_other_than_digit(number);
  if (point == 0 || (number[0] == '0' && point > 1)) return -1;
  if (number[point] != '.') return point <= 15 ? (ptrdiff_t)(sign + point) : -1;
  unsigned digits = first_other_than_digit(number + point + 1);
  unsigned length = point + 1 + digits;
  if (digits == 0 || length > 16 || number[length - 1] == '0' || HAS(number, "0.0000")) return -1;
  return sign + length;
}

static inline unsigned two_digits(const unsigned char *text, bool *is_wrong) {
  unsigned tens = text[0] - (unsigned)'0', ones = text[1] - (unsigned)'0';
  *is_wrong |= tens > 9 || ones > 9;
  return tens * 10 + ones;
}

// The 29th of February is left to code that knows the leap years.
static inline ptrdiff_t length_of_date(const unsigned char *text) {
  bool is_wrong = text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' || text[16] != ':' ||
                  text[19] != 'Z';
  unsigned year = two_digits(text, &is_wrong) * 100 + two_digits(text + 2, &is_wrong);
  unsigned month = two_digits(text + 5, &is_wrong), day = two_digits(text + 8, &is_wrong);
  is_wrong |= two_digits(text + 11, &is_wrong) > 23;
  is_wrong |= two_digits(text + 14, &is_wrong) > 59;
  is_wrong |= two_digits(text + 17, &is_wrong) > 59;
  static const unsigned char days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (is_wrong || year == 0 || month > 12 || day == 0 || day > days[month]) return -1;
  return 20;
}

// The length of a scalar's line from the name of its tag on, or a negative number.
static inline ptrdiff_t length_of_value(const unsigned char *tag, size_t room, size_t most_bytes) {
  ptrdiff_t length;
  switch (tag[0]) {
  case 's':
    if (!HAS(tag, "string>")) return -1;
    length = length_of_text(tag + 7, room - 7, most_bytes);
    return length >= 0 && HAS(tag + 7 + length, "</string>\n") ? 7 + length + 10 : -1;
  case 'i':
    if (!HAS(tag, "integer>")) return -1;
    length = length_of_integer(tag + 8);
    return length >= 0 && HAS(tag + 8 + length, "</integer>\n") ? 8 + length + 11 : -1;
  case 'r':
    if (!HAS(tag, "real>")) return -1;
    length = length_of_real(tag + 5);
    return length >= 0 && HAS(tag + 5 + length, "</real>\n") ? 5 + length + 8 : -1;
  case 'd':
    if (!HAS(tag, "date>")) return -1;
    length = length_of_date(tag + 5);
    return length >= 0 && HAS(tag + 5 + length, "</date>\n") ? 5 + length + 8 : -1;
  case 't': return HAS(tag, "true/>\n") ? 7 : -1;
  case 'f': return HAS(tag, "false/>\n") ? 8 : -1;
  default: return -1;
  }
}

// The number in a text of at most eighteen digits in its shortest form, or a negative number.
static inline int64_t number_of(const unsigned char *text, size_t length) {
  if (length == 0 || length > 18 || (length > 1 && text[0] == '0')) return -1;
  int64_t number = 0;
  for (size_t place = 0; place < length; place++) {
    unsigned digit = text[place] - (unsigned)'0';
    if (digit > 9) return -1;
    number = number * 10 + digit;
  }
  return number;
}

void filedb_pass_entries(
    const struct filedb_shape *shape, const void *memory, size_t count, struct filedb_entries *entries) {
  const unsigned char *bytes = memory;
  struct filedb_entries passed = *entries;
  // If values may be that short, few are. They are not worth a second rule for each type.
  size_t most_bytes = shape->most_bytes >= 32 ? shape->most_bytes : 0;
  while (most_bytes > 0 && count - passed.position > 2 * MARGIN) {
    const unsigned char *line = bytes + passed.position;
    uint32_t place = passed.next;
    while (place < shape->count && !stands_at(&shape->keys[place], line)) place++;
    if (place == shape->count) break;
    size_t key_length = shape->keys[place].length;
    const unsigned char *tag = line + key_length;
    ptrdiff_t length = length_of_value(tag, count - passed.position - key_length, most_bytes);
    if (length < 0) break;
    if (place == shape->number_key) {
      if (tag[0] != 's') break;
      int64_t number = number_of(tag + 7, (size_t)length - 17);
      if (number < 0) break;
      passed.number = number;
    }
    passed.last = passed.position;
    passed.position += key_length + (size_t)length;
    passed.next = place + 1;
  }
  *entries = passed;
}

size_t filedb_number_lines(
    const void *memory, size_t count, size_t position, int64_t *key, int64_t *value) {
  if (count < position || count - position <= MARGIN) return 0;
  const unsigned char *line = (const unsigned char *)memory + position;
  if (!HAS(line, "\t\t<key>")) return 0;
  unsigned key_length = first_other_than_digit(line + 7);
  if (!HAS(line + 7 + key_length, "</key>\n\t\t<string>")) return 0;
  const unsigned char *text = line + 7 + key_length + 17;
  unsigned length = first_other_than_digit(text);
  if (!HAS(text + length, "</string>\n")) return 0;
  *key = number_of(line + 7, key_length);
  *value = number_of(text, length);
  return *key < 0 || *value < 0 ? 0 : position + 7 + key_length + 17 + length + 10;
}

size_t filedb_find(
    const void *memory, size_t count, const void *text, size_t length, size_t first_rare, size_t second_rare) {
  const unsigned char *bytes = memory, *wanted = text;
  size_t place = 0, distance = second_rare - first_rare;
  for (; count >= place + length + 16; place += 16) {
    uint32_t places = places_of_pair(
        bytes + place + first_rare, wanted[first_rare], distance, wanted[second_rare]);
    for (; places != 0; places &= places - 1) {
      size_t start = place + (unsigned)__builtin_ctz(places);
      if (memcmp(bytes + start, wanted, length) == 0) return start;
    }
  }
  for (; count >= length && place <= count - length; place++) {
    if (memcmp(bytes + place, wanted, length) == 0) return place;
  }
  return count;
}

// Where the next tag begins; `end` if there is none.
static inline size_t next_tag(const unsigned char *bytes, size_t place, size_t end) {
  for (; end >= place + 16; place += 16) {
    uint32_t tags = places_of_pair(bytes + place, '<', 0, '<');
    if (tags != 0) return place + (unsigned)__builtin_ctz(tags);
  }
  while (place < end && bytes[place] != '<') place++;
  return place;
}

// The numbers of `CanonicalElement.Kind`.
enum { STRING, INTEGER, REAL, TRUE_, FALSE_, DATE };

size_t filedb_split(
    const void *memory, size_t end, size_t *position, size_t tabs, struct filedb_entry *entries, size_t room) {
  const unsigned char *bytes = memory;
  size_t line = *position, found = 0;
  while (found < room && line < end) {
    size_t key = line + tabs + 5, end_of_key = next_tag(bytes, key, end);
    size_t tag = end_of_key + 7 + tabs;
    // No value has a shorter line.
    if (end < 8 || tag > end - 8) break;
    size_t opening, closing;
    uint8_t kind = STRING;
    switch (bytes[tag + 1]) {
    case 's': kind = STRING, opening = 8, closing = 10; break;
    case 'i': kind = INTEGER, opening = 9, closing = 11; break;
    case 'r': kind = REAL, opening = 6, closing = 8; break;
    case 't': kind = TRUE_, opening = 8, closing = 0; break;
    case 'f': kind = FALSE_, opening = 9, closing = 0; break;
    case 'd': kind = DATE, opening = 6, closing = 8; break;
    default: opening = 0; break;
    }
    // The other tags that begin with `d` are those of data and dictionaries.
    if (opening == 0 || (kind == DATE && bytes[tag + 4] != 'e')) break;
    size_t content = tag + opening;
    size_t end_of_content = closing == 0 ? content : next_tag(bytes, content, end);
    if (end_of_content + closing > end) break;
    entries[found++] = (struct filedb_entry){key, end_of_key, content, end_of_content, kind};
    line = end_of_content + closing;
  }
  *position = line;
  return found;
}
