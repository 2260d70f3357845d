#include <sys/resource.h>
#include <sys/statvfs.h>

#include "include/CFileDB.h"

int64_t filedb_room(const char *path) {
  struct statvfs disk;
  struct rlimit limit;
  if (statvfs(path, &disk) != 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0) return -1;
  uint64_t room = (uint64_t)disk.f_bavail * disk.f_frsize;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < room) room = limit.rlim_cur;
  return room < INT64_MAX ? (int64_t)room : INT64_MAX;
}
