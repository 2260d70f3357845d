#pragma once
#include "types.h"

typedef unsigned int fsblkcnt_t;

struct APPLE(statvfs) {
  unsigned long f_bsize, f_frsize;
  fsblkcnt_t f_blocks, f_bfree, f_bavail;
};

int statvfs(const char *, struct APPLE(statvfs) *);
