#ifdef __linux__
#define _GNU_SOURCE
#endif
#include "CFileDB.h"

#include <fcntl.h>
#include <sys/stat.h>

#if defined(__linux__) && defined(STATX_INO)
#include <sys/sysmacros.h>

int filedb_extent(int folder, const char *name, struct filedb_extent *extent) {
  struct statx found;
  int flags = *name == 0 ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW;
  if (statx(folder, name, flags, STATX_INO | STATX_SIZE | STATX_NLINK, &found) != 0) return -1;
  extent->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  extent->inode = found.stx_ino;
  extent->size = (int64_t)found.stx_size;
  extent->names = found.stx_nlink;
  return 0;
}

int filedb_birth(const char *path, uint64_t *inode, int64_t *created) {
  struct statx found;
  if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &found) != 0) return -1;
  *inode = found.stx_ino;
  *created = found.stx_mask & STATX_BTIME ? found.stx_btime.tv_sec * 1000000000 + found.stx_btime.tv_nsec : 0;
  return 0;
}
#else
int filedb_extent(int folder, const char *name, struct filedb_extent *extent) {
  struct stat found;
  int answer = *name == 0 ? fstat(folder, &found) : fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW);
  if (answer != 0) return -1;
  extent->device = (uint64_t)found.st_dev;
  extent->inode = found.st_ino;
  extent->size = found.st_size;
  extent->names = (uint64_t)found.st_nlink;
  return 0;
}

int filedb_birth(const char *path, uint64_t *inode, int64_t *created) {
  struct stat found;
  if (stat(path, &found) != 0) return -1;
  *inode = found.st_ino;
#ifdef __APPLE__
  *created = (int64_t)found.st_birthtimespec.tv_sec * 1000000000 + found.st_birthtimespec.tv_nsec;
#else
  *created = 0;
#endif
  return 0;
}
#endif
