#include "CFileDB.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint forks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count(void) { atomic_fetch_add(&forks, 1); }

static void count_from_now_on(void) { pthread_atfork(NULL, NULL, count); }

unsigned filedb_fork_count(void) {
  pthread_once(&once, count_from_now_on);
  return atomic_load(&forks);
}
