// SPDX-License-Identifier: Apache-2.0
//
// Preloaded into the watcher (LD_PRELOAD): counts the calls that change the journal or send bytes, over all threads, and
// makes a chosen one of them fail, or the process die at it. strace(1) injects the same faults, but counts per thread:
// SQLite's writes move between the threads of a pool, so most of them can never be chosen there.
//
// $VEDETTE_FAULTS names a file of `struct page`, which the test maps too: faulty.py has the same layout.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { WRITE, SYNC, TRUNCATE, SEND, KINDS };
enum { NONE, KILL, TEAR };  // an action above these is an errno

struct call {
  _Atomic uint64_t count;        // calls so far
  _Atomic uint64_t first, last;  // the numbers of the calls that are hit, from 1; 0: none
  _Atomic uint64_t action;       // KILL: die before it; TEAR: do half of it, then die; ERRNO << 8: fail with it
};

struct page {
  _Atomic int64_t clock_step;  // nanoseconds that the wall clock is ahead
  _Atomic uint64_t deaths;     // of processes that a call ended
  struct call calls[KINDS];
};

static struct page *page;

__attribute__((constructor)) static void open_page(void) {
  const char *path = getenv("VEDETTE_FAULTS");
  int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped != MAP_FAILED) page = mapped;
  close(file);
}

static void die(void) {
  atomic_fetch_add(&page->deaths, 1);
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

// Returns the action for this call, and dies where that is to die at once.
static uint64_t action(int kind) {
  if (!page) return NONE;
  struct call *call = &page->calls[kind];
  uint64_t number = atomic_fetch_add(&call->count, 1) + 1;
  uint64_t first = atomic_load(&call->first);
  if (first == 0 || number < first || number > atomic_load(&call->last)) return NONE;
  uint64_t what = atomic_load(&call->action);
  if (what == KILL) die();
  return what;
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAIL(what) \
  if (what > TEAR) { \
    errno = (int)(what >> 8); \
    return -1; \
  }

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  REAL(pwrite64);
  uint64_t what = action(WRITE);
  FAIL(what)
  if (what == TEAR) {
    real(file, bytes, count / 2, offset);
    die();
  }
  return real(file, bytes, count, offset);
}

int fdatasync(int file) {
  REAL(fdatasync);
  uint64_t what = action(SYNC);
  FAIL(what)
  int result = real(file);
  if (what == TEAR) die();
  return result;
}

int fsync(int file) {
  REAL(fsync);
  uint64_t what = action(SYNC);
  FAIL(what)
  int result = real(file);
  if (what == TEAR) die();
  return result;
}

int ftruncate64(int file, off64_t length) {
  REAL(ftruncate64);
  uint64_t what = action(TRUNCATE);
  FAIL(what)
  int result = real(file, length);
  if (what == TEAR) die();
  return result;
}

ssize_t send(int file, const void *bytes, size_t count, int flags) {
  REAL(send);
  uint64_t what = action(SEND);
  FAIL(what)
  if (what == TEAR) {
    real(file, bytes, count / 2, flags);
    die();
  }
  return real(file, bytes, count, flags);
}

static int is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

int clock_gettime(clockid_t clock, struct timespec *time) {
  REAL(clock_gettime);
  int result = real(clock, time);
  if (result == 0 && page && is_wall(clock)) {
    int64_t nanoseconds = time->tv_nsec + atomic_load(&page->clock_step) % 1000000000;
    time->tv_sec += atomic_load(&page->clock_step) / 1000000000 + (nanoseconds < 0 ? -1 : nanoseconds / 1000000000);
    time->tv_nsec = nanoseconds < 0 ? nanoseconds + 1000000000 : nanoseconds % 1000000000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
