// SPDX-License-Identifier: Apache-2.0
//
// Preloaded under ThreadSanitizer: tells it what Swift's Mutex does when two threads meet. Its fast path is atomic operations that
// ThreadSanitizer sees; the slow path is a futex of the kernel (FUTEX_LOCK_PI) in a library that it does not see. Without this,
// each Mutex that is ever contended is reported as a race; with it, only what no lock protects.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *handle
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

// No annotation in a process without ThreadSanitizer: a child inherits the preload.
static void annotate(const char *name, void *handle) {
  void (*annotation)(void *) = (void (*)(void *))dlsym(RTLD_DEFAULT, name);
  if (annotation) annotation(handle);
}

SWIFT void lock_slow(uint32_t thread, SELF) {
  static SWIFT void (*real)(uint32_t, SELF);
  if (!real) real = (SWIFT void (*)(uint32_t, SELF))dlsym(RTLD_NEXT, LOCK);
  real(thread, handle);
  annotate("__tsan_acquire", handle);
}

SWIFT void unlock_slow(SELF) {
  static SWIFT void (*real)(SELF);
  if (!real) real = (SWIFT void (*)(SELF))dlsym(RTLD_NEXT, UNLOCK);
  annotate("__tsan_release", handle);
  real(handle);
}
