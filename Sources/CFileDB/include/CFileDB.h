// The little C that Swift has no words for.
#ifndef CFILEDB_H
#define CFILEDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Exchanges two names in one step; both must be there. Each is a name in a folder that is open, or a path beside
/// AT_FDCWD.
/// Returns 0, or -1 with `errno`: EINVAL, ENOSYS or ENOTSUP where the file system or the kernel cannot.
int filedb_exchange(int folder, const char *name, int other_folder, const char *other);

/// Gives a file a name that nothing has.
/// Returns 0, or -1 with `errno`: EEXIST where something has it; EINVAL, ENOSYS or ENOTSUP as above.
int filedb_rename_to_free(int folder, const char *name, int new_folder, const char *new_name);

/// Gives a file the access control list and the extended attributes of another one, as far as this process may.
/// Returns 0, or -1 with `errno`.
int filedb_copy_attributes(int file, int copy);

/// How many bytes a new file may have on the disk of `path`: what is free there for this process, and what the
/// process's own limit allows. Returns -1 with `errno`.
int64_t filedb_room(const char *path);

/// How often this process and those it comes from were forked since the first call. Unlike `getpid`, no call of the
/// system.
unsigned filedb_fork_count(void);

/// Whether this CPU has an instruction for CRC-32C.
bool filedb_has_crc32c(void);

/// The register of a CRC-32C after `count` more bytes. Only for a CPU that has the instruction.
uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count);

/// The keys of dictionaries that are mostly alike, such as a table's records, as they stand in canonical bytes.
struct filedb_shape;

/// A shape without keys. `most_bytes` is how long the text of a value may be.
struct filedb_shape *filedb_shape_make(size_t most_bytes);
void filedb_shape_free(struct filedb_shape *shape);

/// Adds a key before the one at `place`: its line, and the next one up to and with the `<` of the value's tag. The
/// value of the number key must be a number, 0 or more, as a string. Returns whether there was room for it.
bool filedb_shape_insert(
    struct filedb_shape *shape, uint32_t place, const void *lines, size_t length, bool is_number_key);

/// How far a dictionary has been passed.
struct filedb_entries {
  /// The next line.
  size_t position;
  /// The line of the key that was passed last.
  size_t last;
  /// The first key of the shape that may come next.
  uint32_t next;
  /// What the number key has, if it was passed.
  int64_t number;
};

/// Passes entries in canonical bytes: those whose keys are in the shape and come in its order, and whose values are
/// scalars in their usual forms. Stops before any other, for the caller to judge, and some bytes before the end.
void filedb_pass_entries(
    const struct filedb_shape *shape, const void *bytes, size_t count, struct filedb_entries *entries);

/// Passes the two lines, two tabs in, of a key and a string that both are numbers, 0 or more, in their usual forms.
/// Returns where the next line begins; 0 where something else stands there, for the caller to judge, or too near to the
/// end.
size_t filedb_number_lines(
    const void *bytes, size_t count, size_t position, int64_t *key, int64_t *value);

/// An entry of a dictionary, by offsets.
struct filedb_entry {
  /// The key's text.
  size_t key, end_of_key;
  /// What is between the value's tags.
  size_t content, end_of_content;
  /// The number of a `CanonicalElement.Kind`.
  uint8_t kind;
};

/// Splits the lines up to `end`, which are canonical, into entries, from `position` on, as long as the values are
/// scalars and there is room. Moves `position` behind them, and returns their number.
size_t filedb_split(
    const void *bytes, size_t end, size_t *position, size_t tabs, struct filedb_entry *entries, size_t room);

static inline bool filedb_is_same(const void *bytes, const void *others, size_t count) {
  return __builtin_memcmp(bytes, others, count) == 0;
}

/// Where `text` begins in `bytes`, `count` where it does not. It is looked for by two of its bytes, which should be
/// rare together.
size_t filedb_find(
    const void *bytes, size_t count, const void *text, size_t length, size_t first_rare, size_t second_rare);

#endif
