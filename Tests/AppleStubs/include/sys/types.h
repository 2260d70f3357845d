#pragma once
#include <stddef.h>
#include <stdint.h>

// Swift loads Glibc's headers as well, and refuses two different structs of one name.
#if defined(__APPLE__)
#define APPLE(name) name
#else
#define APPLE(name) __attribute__((swift_name(#name))) apple_##name
#endif

#define UNAVAILABLE_IN_SWIFT __attribute__((availability(swift, unavailable)))
#define UNAVAILABLE_IN_ASYNC __attribute__((swift_attr("@available(*, noasync)")))

typedef int32_t dev_t;
typedef uint32_t gid_t;
typedef unsigned long long ino_t;
typedef uint16_t mode_t;
typedef uint16_t nlink_t;
typedef long long off_t;
typedef int32_t pid_t;
typedef long ssize_t;
typedef long time_t;
typedef uint32_t uid_t;
typedef uint32_t useconds_t;

struct APPLE(timespec) {
  time_t tv_sec;
  long tv_nsec;
};
