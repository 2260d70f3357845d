#pragma once
#include "sys/types.h"

typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6 } clockid_t;

struct APPLE(tm) {
  int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst;
  long tm_gmtoff;
  char *tm_zone;
};

int clock_gettime(clockid_t, struct APPLE(timespec) *);
struct APPLE(tm) *localtime_r(const time_t *, struct APPLE(tm) *);
time_t time(time_t *);
void tzset(void);
