#define _GNU_SOURCE
#include "include/CFileDB.h"

#if defined(__APPLE__)

#include <copyfile.h>

int filedb_copy_attributes(int file, int copy) { return fcopyfile(file, copy, NULL, COPYFILE_ACL | COPYFILE_XATTR); }

#else

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

// The largest list of names of a file, and the largest value, on Linux: see xattr(7).
enum { LIMIT = 64 << 10 };

static int copy_attribute(int file, int copy, const char *name, char *value) {
  ssize_t length = fgetxattr(file, name, value, LIMIT);
  // It was removed in the meantime.
  if (length < 0) return errno == ENODATA ? 0 : -1;
  if (fsetxattr(copy, name, value, (size_t)length, 0) == 0) return 0;
  // Attributes that only the system may set, such as a label of SELinux, are set on the copy automatically.
  return errno == EPERM || errno == EACCES || errno == ENOTSUP ? 0 : -1;
}

int filedb_copy_attributes(int file, int copy) {
  // The folder may have given the copy a list that the file does not have.
  fremovexattr(copy, "system.posix_acl_access");
  // A file system without attributes reports this here. Most files have none.
  ssize_t length = flistxattr(file, NULL, 0);
  if (length == 0 || (length < 0 && errno == ENOTSUP)) return 0;
  char *names = malloc(LIMIT), *value = malloc(LIMIT);
  int result = -1;
  if (names && value && length > 0 && (length = flistxattr(file, names, LIMIT)) >= 0) {
    result = 0;
    for (char *name = names; result == 0 && name < names + length; name += strlen(name) + 1) {
      result = copy_attribute(file, copy, name, value);
    }
  }
  int error = errno;
  free(names);
  free(value);
  errno = error;
  return result;
}

#endif
