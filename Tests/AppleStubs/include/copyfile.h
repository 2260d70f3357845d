#pragma once
#include <stdint.h>

#define COPYFILE_ACL (1 << 0)
#define COPYFILE_XATTR (1 << 2)

typedef struct _copyfile_state *copyfile_state_t;
typedef uint32_t copyfile_flags_t;

int fcopyfile(int, int, copyfile_state_t, copyfile_flags_t);
