#pragma once
#include "types.h"

#define RLIMIT_FSIZE 1
#define RLIM_INFINITY (((uint64_t)1 << 63) - 1)

typedef uint64_t rlim_t;

struct APPLE(rlimit) {
  rlim_t rlim_cur, rlim_max;
};

int getrlimit(int, struct APPLE(rlimit) *);
