#pragma once
#include "types.h"

struct APPLE(winsize) {
  unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel;
};
