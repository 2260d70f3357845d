#pragma once
#include "sys/types.h"

#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}

struct _opaque_pthread_cond_t {
  long __sig;
  char __opaque[40];
};
struct _opaque_pthread_condattr_t {
  long __sig;
  char __opaque[8];
};
struct _opaque_pthread_mutex_t {
  long __sig;
  char __opaque[56];
};
struct _opaque_pthread_mutexattr_t {
  long __sig;
  char __opaque[8];
};
struct _opaque_pthread_once_t {
  long __sig;
  char __opaque[8];
};
struct _opaque_pthread_t {
  long __sig;
  char __opaque[8176];
};

typedef struct _opaque_pthread_cond_t pthread_cond_t;
typedef struct _opaque_pthread_condattr_t pthread_condattr_t;
typedef struct _opaque_pthread_mutex_t pthread_mutex_t;
typedef struct _opaque_pthread_mutexattr_t pthread_mutexattr_t;
typedef struct _opaque_pthread_once_t pthread_once_t;
typedef struct _opaque_pthread_t *pthread_t;

#pragma clang assume_nonnull begin
int pthread_atfork(void (*_Nullable)(void), void (*_Nullable)(void), void (*_Nullable)(void));
int pthread_cond_broadcast(pthread_cond_t *);
int pthread_cond_signal(pthread_cond_t *);
int pthread_cond_destroy(pthread_cond_t *);
int pthread_cond_init(pthread_cond_t *, const pthread_condattr_t *_Nullable);
int pthread_cond_timedwait_relative_np(
    pthread_cond_t *, pthread_mutex_t *, const struct APPLE(timespec) *_Nullable) UNAVAILABLE_IN_ASYNC;
int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *) UNAVAILABLE_IN_ASYNC;
int pthread_mutex_destroy(pthread_mutex_t *);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *_Nullable);
int pthread_mutex_lock(pthread_mutex_t *) UNAVAILABLE_IN_ASYNC;
int pthread_mutex_trylock(pthread_mutex_t *) UNAVAILABLE_IN_ASYNC;
int pthread_mutex_unlock(pthread_mutex_t *) UNAVAILABLE_IN_ASYNC;
int pthread_once(pthread_once_t *, void (*)(void));
pthread_t pthread_self(void);
#pragma clang assume_nonnull end
