// A library for Linux with glibc. Loaded into a process by LD_PRELOAD, it makes calls on the files of one folder fail,
// as on a broken or a full disk.
//
//   FAULT_FOLDER   only calls on this folder, given as `realpath` spells it, and on what lies in it count
//   FAULT_KIND     EIO, ENOSPC, EDQUOT, EMFILE, EACCES; EINTR; short: a call takes or brings half of what it is asked to;
//                  half: a write takes half, and the next one finds the disk full
//   FAULT_AT       which call fails, from 1; only those count that can fail in this way
//   FAULT_LASTING  where it is set, all calls from then on fail; of those that are interrupted, every second one
//   FAULT_LOG      a file that gets a line for each fault: the call and the path
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum fault {
  FAULT_EIO = 1 << 0,
  FAULT_ENOSPC = 1 << 1,
  FAULT_EDQUOT = 1 << 2,
  FAULT_EMFILE = 1 << 3,
  FAULT_EACCES = 1 << 4,
  FAULT_EINTR = 1 << 5,
  FAULT_SHORT = 1 << 6,
  FAULT_HALF = 1 << 7,

  FAULTS_OF_FILES = FAULT_EIO,
  FAULTS_OF_PATHS = FAULT_EIO | FAULT_EACCES,
  FAULTS_OF_OPENING = FAULTS_OF_PATHS | FAULT_EMFILE | FAULT_EINTR,
  FAULTS_OF_READING = FAULT_EIO | FAULT_EINTR | FAULT_SHORT,
  FAULTS_OF_SPACE = FAULT_ENOSPC | FAULT_EDQUOT,
  FAULTS_OF_SYNCING = FAULT_EIO | FAULT_EINTR | FAULTS_OF_SPACE,
  FAULTS_OF_WRITING = FAULTS_OF_SYNCING | FAULT_SHORT | FAULT_HALF,
};

static const struct kind {
  const char *name;
  enum fault fault;
  int number;
} kinds[] = {
    {"EIO", FAULT_EIO, EIO},          {"ENOSPC", FAULT_ENOSPC, ENOSPC}, {"EDQUOT", FAULT_EDQUOT, EDQUOT},
    {"EMFILE", FAULT_EMFILE, EMFILE}, {"EACCES", FAULT_EACCES, EACCES}, {"EINTR", FAULT_EINTR, EINTR},
    {"short", FAULT_SHORT, 0},        {"half", FAULT_HALF, ENOSPC},
};

static const char *folder;
static const struct kind *kind;
static long first;
static bool lasting;
static int logFile = -1;
static atomic_long count;
static atomic_bool stopped;

#define FIND_NEXT(next, name) \
  if (!next) next = (__typeof__(next))dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void readSettings(void) {
  const char *name = getenv("FAULT_KIND"), *at = getenv("FAULT_AT"), *path = getenv("FAULT_LOG");
  for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(kinds[i].name, name)) kind = &kinds[i];
  first = at ? atol(at) : 0;
  lasting = getenv("FAULT_LASTING") != NULL;
  if (path) logFile = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  unsetenv("LD_PRELOAD");  // A sanitizer's symbolizer, which it starts, is not meant.
  folder = getenv("FAULT_FOLDER");  // From here on calls count.
}

// From now on every call is carried out. Found with `dlsym`, for the worker runs without the library too.
void stopFaults(void) { atomic_store(&stopped, true); }

static bool isInside(const char *path) {
  size_t length = strlen(folder);
  return !strncmp(path, folder, length) && (path[length] == 0 || path[length] == '/');
}

enum verdict { CARRY_OUT, FAIL, HALVE };

static enum verdict verdictOn(long number) {
  if (number < first || atomic_load(&stopped)) return CARRY_OUT;
  long since = number - first;
  switch (kind->fault) {
  case FAULT_SHORT: return since == 0 || lasting ? HALVE : CARRY_OUT;
  case FAULT_HALF: return since == 0 ? HALVE : since == 1 || lasting ? FAIL : CARRY_OUT;
  case FAULT_EINTR: return since == 0 || (lasting && since % 2 == 0) ? FAIL : CARRY_OUT;
  default: return since == 0 || lasting ? FAIL : CARRY_OUT;
  }
}

/// What becomes of a call that can have these faults. Sets `errno` only where the call fails.
static enum verdict judge(const char *call, enum fault faults, const char *path) {
  if (!folder || !kind || !path || !(faults & kind->fault) || !isInside(path)) return CARRY_OUT;
  enum verdict verdict = verdictOn(atomic_fetch_add(&count, 1) + 1);
  if (verdict == CARRY_OUT) return verdict;
  int before = errno;
  if (logFile >= 0) dprintf(logFile, "%s %s\n", call, path);
  errno = verdict == FAIL ? kind->number : before;
  return verdict;
}

/// The path of an open file, of which the kernel keeps account.
static const char *pathOf(int descriptor) {
  static _Thread_local char path[PATH_MAX];
  int before = errno;
  char link[32];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  // The library's own `readlink` takes no notice of a path there.
  ssize_t length = readlink(link, path, sizeof path - 1);
  errno = before;
  if (length < 0) return NULL;
  path[length] = 0;
  return path;
}

/// Half of a request, and never nothing: that would be the end of the file.
static size_t halfOf(size_t size) { return size > 1 ? size / 2 : size; }

// A call that fails or does not.
#define CALL(type, name, parameters, arguments, path, faults, failure) \
  type name parameters { \
    static type(*next) parameters; \
    FIND_NEXT(next, #name); \
    return judge(#name, faults, path) == FAIL ? failure : next arguments; \
  }

// A call that may also do half of what it is asked to.
#define TRANSFER(name, parameters, arguments, faults) \
  ssize_t name parameters { \
    static ssize_t(*next) parameters; \
    FIND_NEXT(next, #name); \
    enum verdict verdict = judge(#name, faults, pathOf(file)); \
    if (verdict == HALVE) size = halfOf(size); \
    return verdict == FAIL ? -1 : next arguments; \
  }

#define OPENING(flags) (FAULTS_OF_OPENING | ((flags) & O_CREAT ? FAULTS_OF_SPACE : 0))

// The mode is there only where a file may be made.
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    static int (*next)(const char *, int, ...); \
    FIND_NEXT(next, #name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return judge(#name, OPENING(flags), path) == FAIL ? -1 : next(path, flags, mode); \
  }

#define OPENAT(name) \
  int name(int at, const char *path, int flags, ...) { \
    static int (*next)(int, const char *, int, ...); \
    FIND_NEXT(next, #name); \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
    va_end(rest); \
    return judge(#name, OPENING(flags), path) == FAIL ? -1 : next(at, path, flags, mode); \
  }

OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
CALL(int, creat, (const char *path, mode_t mode), (path, mode), path, OPENING(O_CREAT), -1)

TRANSFER(read, (int file, void *bytes, size_t size), (file, bytes, size), FAULTS_OF_READING)
TRANSFER(pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at), FAULTS_OF_READING)
TRANSFER(pread64, (int file, void *bytes, size_t size, off64_t at), (file, bytes, size, at), FAULTS_OF_READING)
TRANSFER(write, (int file, const void *bytes, size_t size), (file, bytes, size), FAULTS_OF_WRITING)
TRANSFER(pwrite, (int file, const void *bytes, size_t size, off_t at), (file, bytes, size, at), FAULTS_OF_WRITING)
TRANSFER(pwrite64, (int file, const void *bytes, size_t size, off64_t at), (file, bytes, size, at), FAULTS_OF_WRITING)

CALL(int, fsync, (int file), (file), pathOf(file), FAULTS_OF_SYNCING, -1)
CALL(int, fdatasync, (int file), (file), pathOf(file), FAULTS_OF_SYNCING, -1)
CALL(int, ftruncate, (int file, off_t size), (file, size), pathOf(file), FAULTS_OF_SYNCING, -1)
CALL(int, ftruncate64, (int file, off64_t size), (file, size), pathOf(file), FAULTS_OF_SYNCING, -1)
CALL(int, fallocate, (int file, int mode, off_t at, off_t size), (file, mode, at, size), pathOf(file),
     FAULTS_OF_SYNCING, -1)
CALL(int, fallocate64, (int file, int mode, off64_t at, off64_t size), (file, mode, at, size), pathOf(file),
     FAULTS_OF_SYNCING, -1)
CALL(int, posix_fallocate, (int file, off_t at, off_t size), (file, at, size), pathOf(file), FAULTS_OF_SYNCING, errno)
CALL(int, posix_fallocate64, (int file, off64_t at, off64_t size), (file, at, size), pathOf(file), FAULTS_OF_SYNCING,
     errno)
CALL(int, flock, (int file, int operation), (file, operation), pathOf(file), FAULT_EIO | FAULT_EINTR, -1)
CALL(int, fstat, (int file, struct stat *status), (file, status), pathOf(file), FAULTS_OF_FILES, -1)
CALL(int, futimens, (int file, const struct timespec times[2]), (file, times), pathOf(file), FAULTS_OF_PATHS, -1)
CALL(int, fchmod, (int file, mode_t mode), (file, mode), pathOf(file), FAULTS_OF_PATHS, -1)
CALL(int, fchown, (int file, uid_t owner, gid_t group), (file, owner, group), pathOf(file), FAULTS_OF_PATHS, -1)

CALL(int, stat, (const char *path, struct stat *status), (path, status), path, FAULTS_OF_PATHS, -1)
CALL(int, lstat, (const char *path, struct stat *status), (path, status), path, FAULTS_OF_PATHS, -1)
CALL(char *, realpath, (const char *path, char *resolved), (path, resolved), path, FAULTS_OF_PATHS, NULL)
CALL(ssize_t, readlink, (const char *path, char *target, size_t size), (path, target, size), path, FAULTS_OF_PATHS, -1)
CALL(int, unlink, (const char *path), (path), path, FAULTS_OF_PATHS, -1)
CALL(int, mkdir, (const char *path, mode_t mode), (path, mode), path, FAULTS_OF_PATHS | FAULTS_OF_SPACE, -1)
CALL(int, rename, (const char *old, const char *new), (old, new), new, FAULTS_OF_PATHS | FAULTS_OF_SPACE, -1)
CALL(int, renameat2, (int oldAt, const char *old, int newAt, const char *new, unsigned flags),
     (oldAt, old, newAt, new, flags), new, FAULTS_OF_PATHS | FAULTS_OF_SPACE, -1)
CALL(int, renameat, (int oldAt, const char *old, int newAt, const char *new), (oldAt, old, newAt, new), new,
     FAULTS_OF_PATHS | FAULTS_OF_SPACE, -1)
CALL(int, linkat, (int oldAt, const char *old, int newAt, const char *new, int flags), (oldAt, old, newAt, new, flags),
     new, FAULTS_OF_PATHS | FAULTS_OF_SPACE, -1)
CALL(DIR *, opendir, (const char *path), (path), path, FAULTS_OF_PATHS | FAULT_EMFILE, NULL)
CALL(struct dirent *, readdir, (DIR *stream), (stream), pathOf(dirfd(stream)), FAULTS_OF_FILES, NULL)
CALL(struct dirent64 *, readdir64, (DIR *stream), (stream), pathOf(dirfd(stream)), FAULTS_OF_FILES, NULL)
