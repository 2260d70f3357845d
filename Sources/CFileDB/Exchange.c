#define _GNU_SOURCE
#include "include/CFileDB.h"

#include <stdio.h>

#if defined(__APPLE__)

int filedb_exchange(int folder, const char *name, int other_folder, const char *other) {
  return renameatx_np(folder, name, other_folder, other, RENAME_SWAP);
}

int filedb_rename_to_free(int folder, const char *name, int new_folder, const char *new_name) {
  return renameatx_np(folder, name, new_folder, new_name, RENAME_EXCL);
}

#else

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// musl, and glibc before 2.28, have neither a function for the call nor names for its flags.
enum { NO_REPLACE = 1 << 0, EXCHANGE = 1 << 1 };

static int rename_with(int folder, const char *name, int new_folder, const char *new_name, unsigned flags) {
#if defined(RENAME_EXCHANGE)
  return renameat2(folder, name, new_folder, new_name, flags);
#else
  return (int)syscall(SYS_renameat2, folder, name, new_folder, new_name, flags);
#endif
}

int filedb_exchange(int folder, const char *name, int other_folder, const char *other) {
  return rename_with(folder, name, other_folder, other, EXCHANGE);
}

int filedb_rename_to_free(int folder, const char *name, int new_folder, const char *new_name) {
  return rename_with(folder, name, new_folder, new_name, NO_REPLACE);
}

#endif
