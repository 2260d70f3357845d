#pragma once
#include "types.h"

struct APPLE(stat) {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct APPLE(timespec) st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
  off_t st_size;
};

int fchmod(int, mode_t);
int fstat(int, struct APPLE(stat) *);
int fstatat(int, const char *, struct APPLE(stat) *, int);
int futimens(int, const struct APPLE(timespec)[2]);
int lstat(const char *, struct APPLE(stat) *);
int mkdirat(int, const char *, mode_t);
int stat(const char *, struct APPLE(stat) *);
mode_t umask(mode_t);
