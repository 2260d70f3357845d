// The little C that Swift has no words for.
#ifndef CFILEDB_H
#define CFILEDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Exchanges two names in one step; both must be there. Each is a name in a folder that is open, or a path beside AT_FDCWD.
/// Returns 0, or -1 with `errno`: EINVAL, ENOSYS or ENOTSUP where the file system or the kernel cannot.
int filedb_exchange(int folder, const char *name, int other_folder, const char *other);

/// Gives a file a name that nothing has.
/// Returns 0, or -1 with `errno`: EEXIST where something has it; EINVAL, ENOSYS or ENOTSUP as above.
int filedb_rename_to_free(int folder, const char *name, int new_folder, const char *new_name);

/// Gives a file the access control list and the extended attributes of another one, as far as this process may.
/// Returns 0, or -1 with `errno`.
int filedb_copy_attributes(int file, int copy);

/// How many bytes a new file may have on the disk of `path`: what is free there for this process, and what the process's own
/// limit allows. Returns -1 with `errno`.
int64_t filedb_room(const char *path);

/// Whether this CPU has an instruction for CRC-32C.
bool filedb_has_crc32c(void);

/// The register of a CRC-32C after `count` more bytes. Only for a CPU that has the instruction.
uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count);

#endif
