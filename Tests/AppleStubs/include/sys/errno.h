#pragma once

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EACCES 13
#define EEXIST 17
#define EXDEV 18
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EWOULDBLOCK 35
#define ENOTSUP 45
#define ETIMEDOUT 60
#define ELOOP 62
#define ENOTEMPTY 66
#define EDQUOT 69
#define ENOSYS 78
