/* Preloaded into a program: each of its threads gets a signal with a handler as many times a second as
   PX_TEST_SIGNALS says, as it does from a profiler. An exec ends the timers, a fork does not copy
   them; in the program that an exec starts it is preloaded again. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

typedef void* (*routine)(void*);
struct beginning {
  routine runs;
  void* with;
};

static void take(int number) {
  (void)number;
}

static timer_t make_timer(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGRTMIN + 3};
  struct itimerspec often = {{0, 0}, {0, 0}};
  timer_t timer;
  event.sigev_notify_thread_id = gettid();
  often.it_interval.tv_nsec = often.it_value.tv_nsec = 1000000000L / atol(getenv("PX_TEST_SIGNALS"));
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
  timer_settime(timer, 0, &often, NULL);
  return timer;
}

static void remove_timer(void* timer) {
  timer_delete(*(timer_t*)timer);
}

static void* begin_thread(void* argument) {
  struct beginning beginning = *(struct beginning*)argument;
  void* result;
  free(argument);
  timer_t timer = make_timer();
  pthread_cleanup_push(remove_timer, &timer);
  result = beginning.runs(beginning.with);
  pthread_cleanup_pop(1);
  return result;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, routine runs, void* with) {
  static int (*create)(pthread_t*, const pthread_attr_t*, routine, void*);
  struct beginning* beginning = malloc(sizeof *beginning);
  if (!create) create = dlsym(RTLD_NEXT, "pthread_create");
  if (!getenv("PX_TEST_SIGNALS")) return free(beginning), create(thread, attributes, runs, with);
  *beginning = (struct beginning){runs, with};
  return create(thread, attributes, begin_thread, beginning);
}

__attribute__((constructor)) static void start(void) {
  struct sigaction action = {.sa_handler = take};
  if (!getenv("PX_TEST_SIGNALS")) return;
  sigaction(SIGRTMIN + 3, &action, NULL);
  make_timer();
}
