#ifndef CWORKTHREAD_H
#define CWORKTHREAD_H

/// Runs `body` with `argument` in a new thread that nobody waits for, and that takes no signals but
/// those of its own faults. 0, or the number of the error.
///
/// With glibc the thread begins on another processor than its creator's, if the process has more than
/// one. After that it may run on each of them. Linux decides from the load of the processors where a
/// thread begins. In a virtual machine it may take an idle processor for a busy one, and let the thread
/// wait behind its creator for some milliseconds.
int cworkthread_start(void (*body)(void *argument), void *argument);

/// The number of processors on which this thread may run, by its affinity; 1 or more.
int cworkthread_processors(void);

#endif
