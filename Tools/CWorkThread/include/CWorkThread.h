#ifndef CWORKTHREAD_H
#define CWORKTHREAD_H

/// Runs `body` with `argument` in a new thread that nobody waits for. 0, or the number of the error.
///
/// With glibc the thread begins on another processor than its creator's, if the process may use
/// another one; then it may run on each that the process may use. In a virtual machine, where an idle
/// processor need not look idle, Linux may otherwise let it wait behind its creator for up to 4 ms.
int cworkthread_start(void (*body)(void *argument), void *argument);

/// The number of processors that this process may use; 1 or more.
int cworkthread_processors(void);

#endif
