// The little C that Swift has no words for.
#ifndef CFILEDB_H
#define CFILEDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Exchanges two names in one step; both must be there.
/// Returns 0, or -1 with `errno`: EINVAL, ENOSYS or ENOTSUP where the file system or the kernel cannot.
int filedb_exchange(const char *path, const char *other);

/// Gives a file a name that nothing has.
/// Returns 0, or -1 with `errno`: EEXIST where something has it; EINVAL, ENOSYS or ENOTSUP as above.
int filedb_rename_to_free(const char *path, const char *name);

/// Whether this CPU has an instruction for CRC-32C.
bool filedb_has_crc32c(void);

/// The register of a CRC-32C after `count` more bytes. Only for a CPU that has the instruction.
uint32_t filedb_crc32c(uint32_t register_, const void *bytes, size_t count);

#endif
