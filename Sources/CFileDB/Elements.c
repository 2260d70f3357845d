#include "Bytes.h"

// What is called for every record or entry, at more than one place.
#define INLINE static inline __attribute__((always_inline))

INLINE size_t find(
    const unsigned char *bytes, size_t count, const unsigned char *wanted, size_t length, size_t first_rare,
    size_t second_rare) {
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

size_t filedb_find(
    const void *bytes, size_t count, const void *text, size_t length, size_t first_rare, size_t second_rare) {
  return find(bytes, count, text, length, first_rare, second_rare);
}

// Where the next tag begins; `end` if there is none.
static inline size_t next_tag(const unsigned char *bytes, size_t place, size_t end) {
  const unsigned char *at = bytes + place, *stop = bytes + end;
  for (; stop - at >= 16; at += 16) {
    uint32_t tags = places_of_pair(at, '<', 0, '<');
    if (tags != 0) return (size_t)(at - bytes) + (unsigned)__builtin_ctz(tags);
  }
  while (at < stop && *at != '<') at++;
  return (size_t)(at - bytes);
}

// The numbers of `CanonicalElement.Kind`.
enum { STRING, INTEGER, REAL, TRUE_, FALSE_, DATE, DATA, ARRAY, DICT };

// Data, an array or a dictionary ends at the first closing tag with as many tabs as the opening one. Whatever is inside
// is indented further, and text contains no `<`.
static size_t split_lines(
    const unsigned char *bytes, size_t end, size_t tag, size_t tabs, struct filedb_element *element) {
  uint8_t kind = DICT;
  const char *closing = "</dict>\n";
  if (bytes[tag + 1] == 'a') {
    kind = ARRAY, closing = "</array>\n";
  } else if (bytes[tag + 1] != 'd') {
    return 0;
  } else if (bytes[tag + 2] == 'a') {
    kind = DATA, closing = "</data>\n";
  }
  size_t length = strlen(closing);
  if (bytes[tag + length - 3] == '/') {
    // An element without content, such as `<dict/>`, is as long as its closing tag would be.
    size_t next = tag + length;
    *element = (struct filedb_element){next, next, kind};
    return next <= end ? next : 0;
  }
  size_t content = tag + length - 1, line = content;
  while (line + tabs + length <= end) {
    // Eight bytes are enough: nothing but a line's end follows a tag that closes an array.
    if (memcmp(bytes + line + tabs, closing, 8) == 0) {
      *element = (struct filedb_element){content, line, kind};
      return line + tabs + length;
    }
    const unsigned char *end_of_line = memchr(bytes + line, '\n', end - line);
    if (end_of_line == NULL) break;
    line = (size_t)(end_of_line - bytes) + 1;
  }
  return 0;
}

INLINE size_t split_element(
    const unsigned char *bytes, size_t end, size_t tag, size_t tabs, struct filedb_element *element) {
  // No value has a shorter line.
  if (end < 8 || tag > end - 8) return 0;
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
  if (opening == 0 || (kind == DATE && bytes[tag + 4] != 'e')) {
    return split_lines(bytes, end, tag, tabs, element);
  }
  // Text ends at the first `<`: inside a text, it would be escaped.
  size_t content = tag + opening;
  size_t end_of_content = closing == 0 ? content : next_tag(bytes, content, end);
  element->content = content, element->end_of_content = end_of_content, element->kind = kind;
  size_t next = end_of_content + closing;
  return next <= end ? next : 0;
}

size_t filedb_split_element(
    const void *bytes, size_t end, size_t tag, size_t tabs, struct filedb_element *element) {
  return split_element(bytes, end, tag, tabs, element);
}

size_t filedb_find_field(
    const void *bytes, size_t count, const void *lines, size_t length, size_t tabs,
    struct filedb_element *value) {
  // The key's first byte and the `<` after the key. They are rare at this distance, because other keys have other
  // lengths.
  size_t key = 1 + tabs + 5, end_of_key = length - 1 - tabs - 7;
  size_t place = find(bytes, count, lines, length, key, end_of_key);
  return place < count ? split_element(bytes, count, place + length - 1, tabs, value) : 0;
}

size_t filedb_split_entries(
    const void *memory, size_t end, size_t *position, size_t tabs, struct filedb_entry *entries, size_t room) {
  const unsigned char *bytes = memory;
  size_t line = *position;
  struct filedb_entry *entry = entries;
  while (entry < entries + room && line < end) {
    entry->key = line + tabs + 5;
    entry->end_of_key = next_tag(bytes, entry->key, end);
    size_t next = split_element(bytes, end, entry->end_of_key + 7 + tabs, tabs, &entry->value);
    if (next == 0) break;
    entry++;
    line = next;
  }
  *position = line;
  return (size_t)(entry - entries);
}
