#define _GNU_SOURCE
#include "include/CFileDB.h"

#include <stdio.h>

#if defined(__APPLE__)

int filedb_exchange(const char *path, const char *other) { return renamex_np(path, other, RENAME_SWAP); }

int filedb_rename_to_free(const char *path, const char *name) { return renamex_np(path, name, RENAME_EXCL); }

#else

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// musl, and glibc before 2.28, have neither a function for the call nor names for its flags.
enum { NO_REPLACE = 1 << 0, EXCHANGE = 1 << 1 };

static int rename_with(const char *path, const char *name, unsigned flags) {
#if defined(RENAME_EXCHANGE)
  return renameat2(AT_FDCWD, path, AT_FDCWD, name, flags);
#else
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, name, flags);
#endif
}

int filedb_exchange(const char *path, const char *other) { return rename_with(path, other, EXCHANGE); }

int filedb_rename_to_free(const char *path, const char *name) { return rename_with(path, name, NO_REPLACE); }

#endif
