// Loaded before all libraries of a process: counts how often each of its threads gives its core
// away.

#include <sys/syscall.h>
#include <unistd.h>

static __thread long count = 0;

int sched_yield(void) {
  ++count;
  return (int)syscall(SYS_sched_yield);
}

// Of the calling thread.
int yields(void) {
  return (int)count;
}
