#pragma once
#include "sys/types.h"

__attribute__((noreturn)) void abort(void);
int atexit(void (*_Nonnull)(void));
void *calloc(size_t, size_t);
__attribute__((noreturn)) void exit(int);
void free(void *);
char *getenv(const char *);
void *malloc(size_t);
int mkstemp(char *);
int mkstemps(char *, int);
char *realpath(const char *, char *);
int setenv(const char *, const char *, int);
int system(const char *) UNAVAILABLE_IN_SWIFT;
int unsetenv(const char *);
