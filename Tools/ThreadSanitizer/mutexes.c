// Reports locks to the thread sanitizer that it cannot see.
//
// If a Mutex of Swift's Synchronization is free, its lock and unlock are inlined, and the sanitizer sees
// their order. If it is not free, the system's library locks it. That library is not instrumented, so that
// every wait for a lock would be reported as a race. These functions are loaded before the library. They
// report the lock to the sanitizer and call the library.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

extern void __tsan_acquire(void *address);
extern void __tsan_release(void *address);

typedef __attribute__((swiftcall)) void Lock(
    uint32_t thread, __attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) void Unlock(__attribute__((swift_context)) void *mutex);
typedef __attribute__((swiftcall)) _Bool TryLock(__attribute__((swift_context)) void *mutex);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"

static Lock *next_lock;
static Unlock *next_unlock;
static TryLock *next_try_lock;
static int calls;

// This runs before any thread starts, so nothing races for the variables. Child processes inherit this
// library. Those without Swift have none of the functions and call none.
__attribute__((constructor)) static void find(void) {
  next_lock = (Lock *)dlsym(RTLD_NEXT, LOCK);
  next_unlock = (Unlock *)dlsym(RTLD_NEXT, UNLOCK);
  next_try_lock = (TryLock *)dlsym(RTLD_NEXT, TRY_LOCK);
}

// A run in which no thread waited for a lock proves nothing, so the number of waits is printed.
__attribute__((destructor)) static void tell(void) {
  if (next_lock) fprintf(stderr, "mutexes: %d waits were told\n", __atomic_load_n(&calls, __ATOMIC_RELAXED));
}

__attribute__((swiftcall)) void wait_for(
    uint32_t thread, __attribute__((swift_context)) void *mutex) __asm__(LOCK);
__attribute__((swiftcall)) void wait_for(
    uint32_t thread, __attribute__((swift_context)) void *mutex) {
  next_lock(thread, mutex);
  __tsan_acquire(mutex);
  __atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

__attribute__((swiftcall)) void give_back(__attribute__((swift_context)) void *mutex)
    __asm__(UNLOCK);
__attribute__((swiftcall)) void give_back(__attribute__((swift_context)) void *mutex) {
  __tsan_release(mutex);
  next_unlock(mutex);
}

__attribute__((swiftcall)) _Bool try_for(__attribute__((swift_context)) void *mutex)
    __asm__(TRY_LOCK);
__attribute__((swiftcall)) _Bool try_for(__attribute__((swift_context)) void *mutex) {
  _Bool taken = next_try_lock(mutex);
  if (taken) __tsan_acquire(mutex);
  return taken;
}
