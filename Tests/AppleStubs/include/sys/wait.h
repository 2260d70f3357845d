#pragma once
#include "types.h"

pid_t waitpid(pid_t, int *, int);
