#pragma once
#include "sys/types.h"

#define AT_FDCWD (-2)
#define AT_REMOVEDIR 0x0080
#define AT_SYMLINK_NOFOLLOW 0x0020
#define FD_CLOEXEC 1
#define F_SETFD 2
#define F_DUPFD_CLOEXEC 67
#define F_FULLFSYNC 51
#define F_BARRIERFSYNC 85
#define LOCK_EX 0x02
#define LOCK_NB 0x04
#define LOCK_UN 0x08
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_NONBLOCK 0x00000004
#define O_NOFOLLOW 0x00000100
#define O_NOCTTY 0x00020000
#define O_CREAT 0x00000200
#define O_EXCL 0x00000800
#define O_EVTONLY 0x00008000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000

int flock(int, int);
