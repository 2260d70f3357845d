// The few functions that cannot be written in Swift.
#ifndef CFILEDB_H
#define CFILEDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Exchanges two names in one step. Both must exist. Each is a name in an open folder, or a path with AT_FDCWD. Returns
/// 0, or -1 with `errno`: EINVAL, ENOSYS or ENOTSUP if the file system or the kernel does not support it.
int filedb_exchange(int folder, const char *name, int other_folder, const char *other);

/// Renames a file to a name that nothing has. Returns 0, or -1 with `errno`: EEXIST if something has the name; EINVAL,
/// ENOSYS or ENOTSUP as above.
int filedb_rename_to_free(int folder, const char *name, int new_folder, const char *new_name);

/// Gives a file the access control list and the extended attributes of another file, as far as this process may.
/// Returns 0, or -1 with `errno`.
int filedb_copy_attributes(int file, int copy);

/// Which file it is, how long it is, and how many names it has.
struct filedb_extent {
  uint64_t device, inode;
  int64_t size;
  uint64_t names;
};

/// Finds what is at a name in an open folder, or at a path with AT_FDCWD, or an open file if the name is empty. If the
/// name is a link, this finds the link. It does not ask for the times of the file; see Decision 041. Returns 0, or -1
/// with `errno`.
int filedb_extent(int folder, const char *name, struct filedb_extent *extent);

/// The inode of what is at a path, and when it was created: in nanoseconds since 1970, or 0 if the file system does not
/// know. Follows links. Returns 0, or -1 with `errno`.
int filedb_birth(const char *path, uint64_t *inode, int64_t *created);

/// The most bytes that a new file may have on the disk of `path`, considering the free space for this process and its
/// own limit. Returns -1 with `errno` if this fails.
int64_t filedb_room(const char *path);

/// Whether the files at `path` get their times from this machine's clock; 0 on a disk that another machine may serve.
/// Returns -1 with `errno` if this fails.
int filedb_has_own_clock(const char *path);

/// How often this process and its parents were forked since the first call. Unlike `getpid`, this is not a system call.
unsigned filedb_fork_count(void);

/// Whether this CPU has an instruction for CRC-32C.
bool filedb_has_crc32c(void);

/// The register of a CRC-32C after `count` more bytes. Call it only if the CPU has the instruction.
uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count);

/// The keys of similar dictionaries, such as the records of a table, in canonical bytes.
struct filedb_shape;

/// A shape without keys. `most_bytes` is the maximal length of a value's text.
struct filedb_shape *filedb_shape_make(size_t most_bytes);
void filedb_shape_free(struct filedb_shape *shape);

/// Adds a key before the one at `place`: its line, and the next line up to and including the `<` of the value's tag.
/// The value of the number key must be a number, 0 or more, as a string. Returns whether there was space for it.
bool filedb_shape_insert(
    struct filedb_shape *shape, uint32_t place, const void *lines, size_t length, bool is_number_key);

/// How far a dictionary has been scanned.
struct filedb_entries {
  /// The next line.
  size_t position;
  /// The line of the last key that was scanned.
  size_t last;
  /// The first key of the shape that may come next.
  uint32_t next;
  /// The value of the number key, if it was scanned.
  int64_t number;
};

/// Scans entries in canonical bytes whose keys are in the shape, in its order, and whose values are scalars in their
/// usual forms. Stops before any other entry, for the caller to check, and some bytes before the end.
void filedb_pass_entries(
    const struct filedb_shape *shape, const void *bytes, size_t count, struct filedb_entries *entries);

/// Scans two lines with two tabs: a key and a string that are both numbers, 0 or more. Returns where the next line
/// begins; 0 if there is something else.
size_t filedb_pass_numbers(
    const void *bytes, size_t count, size_t position, int64_t *key, int64_t *value);

/// An element in canonical bytes, given by offsets.
struct filedb_element {
  /// What is between its tags.
  size_t content, end_of_content;
  /// The number of a `CanonicalElement.Kind`.
  uint8_t kind;
};

/// An entry of a dictionary.
struct filedb_entry {
  /// The key's text.
  size_t key, end_of_key;
  struct filedb_element value;
};

/// Finds the element whose tag is at `tag`, after `tabs` tabs. Returns where the next line begins; 0 if the bytes are
/// not canonical. It notices only what cannot be an element at all.
size_t filedb_split_element(
    const void *bytes, size_t end, size_t tag, size_t tabs, struct filedb_element *element);

/// Finds the value of a key in a canonical dictionary. `lines` is the line of the key, which begins with `tabs` tabs,
/// from the line end before it to the `<` of the value's tag. Returns where the line after the value begins; 0 if there
/// is no such key.
size_t filedb_find_field(
    const void *bytes, size_t count, const void *lines, size_t length, size_t tabs,
    struct filedb_element *value);

/// Splits canonical lines from `position` up to `end` into entries, as long as there is space. Moves `position` after
/// them, and returns their number: fewer than there is space for if the bytes end, or are not canonical.
size_t filedb_split_entries(
    const void *bytes, size_t end, size_t *position, size_t tabs, struct filedb_entry *entries, size_t room);

static inline bool filedb_is_same(const void *bytes, const void *others, size_t count) {
  return __builtin_memcmp(bytes, others, count) == 0;
}

/// Where `text` begins in `bytes`; `count` if it does not occur. It is searched for by two of its bytes, which should
/// be rare together.
size_t filedb_find(
    const void *bytes, size_t count, const void *text, size_t length, size_t first_rare, size_t second_rare);

#endif
