#pragma once
#include "types.h"

#define MNT_LOCAL 0x00001000

struct APPLE(statfs) {
  uint32_t f_flags;
};

int statfs(const char *, struct APPLE(statfs) *);
