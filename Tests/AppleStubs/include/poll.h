#pragma once
#include "sys/types.h"

#define POLLIN 0x0001
#define POLLOUT 0x0004

typedef unsigned int nfds_t;

struct APPLE(pollfd) {
  int fd;
  short events, revents;
};

int poll(struct APPLE(pollfd) *, nfds_t, int);
