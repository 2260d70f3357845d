#pragma once
#include "sys/types.h"

#define RENAME_SWAP 0x00000002
#define RENAME_EXCL 0x00000004

typedef struct __sFILE {
  short _flags, _file;
} FILE;

int fflush(FILE *);
int fileno(FILE *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int pclose(FILE *) UNAVAILABLE_IN_SWIFT;
FILE *popen(const char *, const char *) UNAVAILABLE_IN_SWIFT;
int renameat(int, const char *, int, const char *);
int renameatx_np(int, const char *, int, const char *, unsigned int);
FILE *tmpfile(void);
