#pragma once
#include "sys/types.h"

#define _SC_PAGESIZE 29
#define _SC_PHYS_PAGES 200

#define F_OK 0
#define R_OK (1 << 2)
#define X_OK (1 << 0)
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0
#define SEEK_CUR 1

int access(const char *, int);
int close(int);
int dup2(int, int);
int execv(const char *, char *const *);
int fchown(int, uid_t, gid_t);
int fsync(int);
pid_t getpid(void);
pid_t getppid(void);
int gethostuuid(unsigned char *_Nonnull, const struct APPLE(timespec) *_Nonnull);
int isatty(int);
int linkat(int, const char *, int, const char *, int);
off_t lseek(int, off_t, int);
char *mkdtemp(char *);
int pipe(int[2]);
ssize_t pread(int, void *, size_t, off_t);
ssize_t pwrite(int, const void *, size_t, off_t);
ssize_t read(int, void *, size_t);
ssize_t readlink(const char *, char *, size_t);
int rmdir(const char *);
long sysconf(int);
int unlink(const char *);
int unlinkat(int, const char *, int);
int usleep(useconds_t);
ssize_t write(int, const void *, size_t);
