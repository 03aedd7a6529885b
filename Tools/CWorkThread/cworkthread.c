// Must stand before the first header: Linux keeps these calls behind it.
#define _GNU_SOURCE
#include "CWorkThread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#endif

struct work {
  void (*body)(void *);
  void *argument;
#if defined(__linux__)
  cpu_set_t allowed;
  int is_placed;
#endif
};

static void *run(void *argument) {
  struct work work = *(struct work *)argument;
  free(argument);
#if defined(__linux__)
  // The thread has begun, and the system may move it from now on.
  if (work.is_placed) sched_setaffinity(0, sizeof work.allowed, &work.allowed);
#endif
  work.body(work.argument);
  return NULL;
}

// Lets the thread begin on any processor but this one; 0 if that is not possible.
static int place(struct work *work, pthread_attr_t *attributes) {
#if defined(__GLIBC__)
  if (sched_getaffinity(0, sizeof work->allowed, &work->allowed) != 0) return 0;
  int here = sched_getcpu();
  cpu_set_t others = work->allowed;
  if (here < 0 || here >= CPU_SETSIZE) return 0;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0) return 0;
  work->is_placed = pthread_attr_setaffinity_np(attributes, sizeof others, &others) == 0;
  return work->is_placed;
#else
  (void)work;
  (void)attributes;
  return 0;
#endif
}

// Creates the thread, on another processor if `is_placed` is 1.
static int create(struct work *work, int is_placed) {
  pthread_attr_t attributes;
  int result = pthread_attr_init(&attributes);
  if (result != 0) return result;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (!is_placed || place(work, &attributes)) {
    pthread_t thread;
    result = pthread_create(&thread, &attributes, run, work);
  } else {
    result = ENOTSUP;
  }
  pthread_attr_destroy(&attributes);
  return result;
}

int cworkthread_start(void (*body)(void *), void *argument) {
  struct work *work = calloc(1, sizeof *work);
  if (work == NULL) return ENOMEM;
  work->body = body;
  work->argument = argument;
  // Signals are for the threads that wait for them. Those of a fault are for the thread that makes it.
  static const int faults[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS};
  sigset_t others, before;
  sigfillset(&others);
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigdelset(&others, faults[i]);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  int result = create(work, 1);
  if (result != 0) {
    // A sandbox may refuse the place, and the allowed processors may have changed.
#if defined(__linux__)
    work->is_placed = 0;
#endif
    result = create(work, 0);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (result != 0) free(work);
  return result;
}

int cworkthread_processors(void) {
#if defined(__linux__)
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) {
    return CPU_COUNT(&allowed);
  }
#endif
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : (int)online;
}
