/* Preloaded into a program: it gets a signal with a handler as many times a second as
   PX_TEST_SIGNALS says, as it does from a profiler. An exec ends the timer, a fork does not copy
   it; in the program that an exec starts it is preloaded again. */

#include <signal.h>
#include <stdlib.h>
#include <time.h>

static void take(int number) {
  (void)number;
}

__attribute__((constructor)) static void start(void) {
  const char* rate = getenv("PX_TEST_SIGNALS");
  struct sigaction action = {.sa_handler = take};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL};
  struct itimerspec often = {{0, 0}, {0, 0}};
  timer_t timer;
  if (!rate) return;
  event.sigev_signo = SIGRTMIN + 3;
  sigaction(event.sigev_signo, &action, NULL);
  often.it_interval.tv_nsec = often.it_value.tv_nsec = 1000000000L / atol(rate);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) timer_settime(timer, 0, &often, NULL);
}
