#include "CSlowDisk.h"

#ifdef __linux__
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint delay;

void slow_disk_set_delay(unsigned microseconds) { atomic_store(&delay, microseconds); }

static void wait_for_disk(void) {
  unsigned microseconds = atomic_load(&delay);
  if (microseconds > 0) usleep(microseconds);
}

// A program's own functions take the place of the C library's.
int fsync(int file) {
  wait_for_disk();
  return (int)syscall(SYS_fsync, file);
}

int fdatasync(int file) {
  wait_for_disk();
  return (int)syscall(SYS_fdatasync, file);
}
#else
void slow_disk_set_delay(unsigned microseconds) { (void)microseconds; }
#endif
