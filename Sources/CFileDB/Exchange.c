#define _GNU_SOURCE
#include "include/CFileDB.h"

#include <stdio.h>

#if defined(__APPLE__)

int filedb_exchange(const char *path, const char *other) { return renamex_np(path, other, RENAME_SWAP); }

#elif defined(RENAME_EXCHANGE)

#include <fcntl.h>

int filedb_exchange(const char *path, const char *other) {
  return renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
}

#else

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

// musl, and glibc before 2.28, have neither a function for the call nor a name for the flag.
enum { EXCHANGE = 1 << 1 };

int filedb_exchange(const char *path, const char *other) {
  return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, EXCHANGE);
}

#endif
