#include "Bytes.h"

#include <stdlib.h>

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

// The number, 0 or more, in its shortest form, whose digits are at `text`; a negative number if there is something else,
// or if it is too large. Reads at most twenty bytes.
static inline int64_t number_at(const unsigned char *text, size_t *digits) {
  // Nineteen digits fit into this type. What is too large for the other one is negative there.
  uint64_t number = 0;
  size_t count = 0;
  for (unsigned digit; count < 20 && (digit = text[count] - (unsigned)'0') <= 9; count++) {
    number = number * 10 + digit;
  }
  *digits = count;
  return count == 0 || count == 20 || (count > 1 && text[0] == '0') ? -1 : (int64_t)number;
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
      size_t digits;
      int64_t number = number_at(tag + 7, &digits);
      if (number < 0 || digits != (size_t)length - 17) break;
      passed.number = number;
    }
    passed.last = passed.position;
    passed.position += key_length + (size_t)length;
    passed.next = place + 1;
  }
  *entries = passed;
}

size_t filedb_pass_numbers(
    const void *memory, size_t count, size_t position, int64_t *key, int64_t *value) {
  if (count < position) return 0;
  const unsigned char *line = (const unsigned char *)memory + position;
  // The most bytes that are read below. Zeros follow the last bytes; canonical bytes do not contain any.
  unsigned char spare[72];
  if (count - position < sizeof spare) {
    memset(spare, 0, sizeof spare);
    line = memcpy(spare, line, count - position);
  }
  size_t key_digits, digits;
  if (!HAS(line, "\t\t<key>")) return 0;
  *key = number_at(line + 7, &key_digits);
  if (*key < 0 || !HAS(line + 7 + key_digits, "</key>\n\t\t<string>")) return 0;
  const unsigned char *text = line + 7 + key_digits + 17;
  *value = number_at(text, &digits);
  if (*value < 0 || !HAS(text + digits, "</string>\n")) return 0;
  return position + 7 + key_digits + 17 + digits + 10;
}
