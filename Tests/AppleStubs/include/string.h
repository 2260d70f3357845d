#pragma once
#include <stddef.h>

void *memchr(const void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
char *strdup(const char *);
char *strerror(int);
size_t strlen(const char *);
char *strstr(const char *, const char *);
