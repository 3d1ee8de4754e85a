#include "interpreters/cpp/guard/cell_guard.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <mutex>
#include <optional>

#include "interpreters/cpp/guard/cell_failure.hpp"
#include "interpreters/cpp/guard/cell_stack.hpp"
#include "os/last_stack.hpp"
#include "wire/error.hpp"

namespace px::cpp {
namespace {

constexpr const char* while_compiled = "while it was compiled";
constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// Code that can be left from a signal handler: that of the cell, or of a thread of cells.
struct Guarded {
  sigjmp_buf way_out;
  std::uintptr_t frame = 0;  ///< Of the function that has called it.
  Departure departure;
  unsigned long run = 0;  ///< Of which run of CellGuard this is a part.
  bool is_termination_interrupt = false;
};

// What signal handlers need; a process has one thread that runs cells.
alignas(64) volatile int interrupt_requests = 0;
std::atomic<int> announced_requests = 0;  // by other threads: signals that wait become one
volatile sig_atomic_t is_running = 0;
volatile sig_atomic_t has_code_begun = 0;
volatile sig_atomic_t has_jumps_held = 0;
volatile sig_atomic_t are_crashes_caught = 0;
volatile sig_atomic_t are_interrupts_handled = 0;
std::atomic<unsigned long> run_number = 0;
std::atomic<int> threads_alive = 0;
pthread_t cell_thread;
pid_t cell_process = 0;
Guarded guarded_cell;
thread_local Guarded* guarded_thread = nullptr;  // where this thread was started by a cell
std::array<struct sigaction, crash_signals.size()> earlier_actions;
std::terminate_handler earlier_terminate_handler = nullptr;

/// What the first thread that failed during this run said.
struct ThreadFailure {
  std::mutex mutex;
  std::optional<CellOutcome> outcome;
};
ThreadFailure thread_failure;

bool is_on_cell_thread() {
  return pthread_equal(pthread_self(), cell_thread) != 0;
}

/// A cell may call fork(): its children end as processes do.
bool is_cell_process() {
  return getpid() == cell_process;
}

/// The user's code that this thread runs; null where it runs none.
Guarded* guarded_here() {
  if (!is_cell_process()) return nullptr;
  if (is_on_cell_thread()) return is_running ? &guarded_cell : nullptr;
  return guarded_thread;
}

[[noreturn]] void leave(Guarded& guarded, int reason) {
  guarded.departure.reason = reason;
  siglongjmp(guarded.way_out, 1);
}

/// Whether the fault was near the stack's end.
bool is_stack_overflow(const siginfo_t* info, const void* context) {
#if defined(__x86_64__)
  const auto* machine = static_cast<const ucontext_t*>(context);
  const auto pointer = static_cast<std::uintptr_t>(machine->uc_mcontext.gregs[15]);  // REG_RSP
  const auto fault = reinterpret_cast<std::uintptr_t>(info->si_addr);
  return fault > pointer - (64 << 10) && fault < pointer + (64 << 10);
#else
  (void)info, (void)context;
  return false;
#endif
}

/// Sends SIGINT again to a thread whose handler could not do yet what it asks for.
class RetryTimer {
 public:
  /// For this thread. Such a signal has the code SI_TIMER.
  void make() {
    if (process_ == getpid()) return;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGINT;
    event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0) process_ = getpid();
  }
  void start() const { set({{0, 0}, {0, pause_ns}}); }
  void stop() const { set({}); }

 private:
  static constexpr long pause_ns = 1'000'000;

  /// A forked child has no timer.
  void set(const itimerspec& time) const {
    if (process_ == getpid()) timer_settime(timer_, 0, &time, nullptr);
  }
  timer_t timer_{};
  pid_t process_ = 0;
};
RetryTimer retry_timer;

/// Why the process ends, though a cell ran.
const char* reason_to_end(int number) {
  return number == SIGABRT
             ? "the C library aborted while a cell ran, probably because memory was written "
               "outside of its bounds or freed twice: no memory can be allocated any more"
             : "a cell crashed in malloc(), free(), the dynamic loader or the code that throws "
               "exceptions: their locks stay held";
}

void on_crash(int number, siginfo_t* info, void* context) {
  Guarded* const guarded = guarded_here();
  const bool is_survived =
      guarded && (guarded->departure.reason != 0 ||
                  SignalledCode::can_be_survived(number, context, guarded->frame));
  if (guarded && !is_survived) os::last_stack_reason = reason_to_end(number);
  if (is_survived) {
    if (guarded->departure.reason == 0) {
      guarded->departure.reason = number;
      guarded->departure.has_overflown = number == SIGSEGV && is_stack_overflow(info, context);
      if (guarded == &guarded_cell) CellStack::record();  // a damaged stack may be another crash
    }
    leave(*guarded, guarded->departure.reason);
  }
  for (std::size_t i = 0; i < crash_signals.size(); ++i)  // as if we were not there
    if (crash_signals[i] == number) sigaction(number, &earlier_actions[i], nullptr);
  if (info->si_code <= 0) raise(number);  // else the instruction is tried again
}

/// Whether the cell has not answered interrupts that it could have answered.
bool is_to_be_left() {
  const int answerable = has_jumps_held ? 3 : 1;
  return interrupt_requests > answerable && is_running && has_code_begun;
}

/// Tries again and again to leave a cell by force, until it is where it can be left.
void on_interrupt(int, siginfo_t* info, void* context) {
  if (!is_on_cell_thread()) return CellGuard::interrupt();
  const int interrupted_errno = errno;
  if (info->si_code != SI_TIMER)
    interrupt_requests = interrupt_requests + std::max(1, announced_requests.exchange(0));
  if (is_to_be_left()) {
    if (SignalledCode::can_be_interrupted(context, guarded_cell.frame))
      leave(guarded_cell, Departure::by_interrupt);
    retry_timer.start();
  }
  errno = interrupted_errno;
}

void on_terminate() {
  if (Guarded* const guarded = guarded_here()) {
    guarded->is_termination_interrupt = is_interruption_under_way();
    guarded->departure.termination = reason_of_termination();
  } else if (earlier_terminate_handler) {
    earlier_terminate_handler();
  }
  std::abort();
}

void catch_crashes() {
  if (are_crashes_caught) return;
  are_crashes_caught = 1;
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    sigaction(crash_signals[i], &action, &earlier_actions[i]);
}

/// But for those of threads that live on.
void leave_crashes_alone() {
  if (threads_alive > 0) return;
  are_crashes_caught = 0;
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    sigaction(crash_signals[i], &earlier_actions[i], nullptr);
}

bool is_in_parallel_region() {
  using Query = int (*)();
  const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  return query && query();
}

/// Whether an exception that is thrown now ends what this thread does for the cell.
bool can_throw() {
  const Guarded* const guarded = guarded_here();
  return guarded && is_running && guarded->run == run_number && !is_in_parallel_region();
}

/// Where signal handlers of this thread run, as its own stack may have no room.
class AlternateStack {
 public:
  AlternateStack()
      : memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    check(memory_ != MAP_FAILED);
    const stack_t stack{memory_, 0, bytes};
    sigaltstack(&stack, nullptr);
  }
  ~AlternateStack() {
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
    munmap(memory_, bytes);
  }
  AlternateStack(AlternateStack&&) = delete;

 private:
  static constexpr std::size_t bytes = 256 << 10;
  void* memory_;
};

/// While it lives, this thread is left, and not the process.
class ThreadGuard {
 public:
  explicit ThreadGuard(Guarded& guarded) {
    guarded_thread = &guarded;
    ++threads_alive;
  }
  ~ThreadGuard() {
    guarded_thread = nullptr;
    --threads_alive;
  }
  ThreadGuard(ThreadGuard&&) = delete;

 private:
  AlternateStack stack_;
};

/// The cell shall end now, since a thread of it has failed.
void stop_cell() {
  if (are_interrupts_handled)
    pthread_kill(cell_thread, SIGINT);  // what sleeps shall wake up
  else
    interrupt_requests = interrupt_requests + 1;
}

void report_thread(unsigned long run, CellOutcome outcome) {
  const std::string text = outcome.error_name + ": in a thread: " + outcome.error_value;
  {
    const std::lock_guard lock(thread_failure.mutex);
    if (is_running && run == run_number) {
      if (thread_failure.outcome) return;
      outcome.error_value = "in a thread: " + outcome.error_value;
      outcome.traceback = {text};
      thread_failure.outcome = std::move(outcome);
      stop_cell();
      return;
    }
  }
  const std::string line = "A thread of an earlier cell has ended: " + text + "\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

std::optional<CellOutcome> take_thread_failure() {
  const std::lock_guard lock(thread_failure.mutex);
  return std::exchange(thread_failure.outcome, std::nullopt);
}

/// Its end is the cell's, unless the cell has failed by itself.
void join_thread_failure(CellOutcome& outcome) {
  std::optional<CellOutcome> failure = take_thread_failure();
  if (!failure) return;
  while (!CellGuard::is_interrupt_pending()) sched_yield();  // see stop_cell()
  CellGuard::forget_interrupts();
  using Kind = CellOutcome::Ending;
  if (outcome.kind == Kind::ok || outcome.kind == Kind::interrupted)
    outcome = std::move(*failure);
  else
    outcome.traceback.insert(outcome.traceback.end(), failure->traceback.begin(),
                             failure->traceback.end());
}

/// A child that the cell has made by fork() has reached the cell's end.
void end_child(const CellOutcome& outcome) {
  if (is_cell_process()) return;
  for (const std::string& line : outcome.traceback) std::cerr << line << "\n";
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(outcome.is_ok() ? EXIT_SUCCESS : EXIT_FAILURE);
}

}  // namespace

struct CellGuard::Stack : AlternateStack {};

CellGuard::CellGuard() : stack_(std::make_unique<Stack>()) {
  SignalledCode::prepare();
  cell_thread = pthread_self();
  cell_process = getpid();
  if (std::get_terminate() != on_terminate)
    earlier_terminate_handler = std::set_terminate(on_terminate);
}

CellGuard::~CellGuard() = default;

CellOutcome CellGuard::run(const std::function<void()>& code, Begin begin) {
  const ExceptionState before = exception_state();
  guarded_cell.departure = {};
  guarded_cell.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  guarded_cell.run = ++run_number;
  has_jumps_held = 0;
  has_code_begun = begin == Begin::at_once;
  CellOutcome outcome;
  catch_crashes();
  if (sigsetjmp(guarded_cell.way_out, 1) == 0) {
    is_running = 1;
    outcome = run_throwing(code, ThreadEnd::aborts);
    is_running = 0;
  } else {
    is_running = 0;
    retry_timer.stop();
    has_jumped_ = true;
    exception_state() = before;
    outcome = outcome_of(guarded_cell.departure);
  }
  end_child(outcome);
  leave_crashes_alone();
  join_thread_failure(outcome);
  if (outcome.kind == CellOutcome::Ending::interrupted) forget_interrupts();
  return outcome;
}

unsigned long CellGuard::current_run() {
  return run_number;
}

void CellGuard::run_thread(unsigned long run, const std::function<void()>& code) {
  Guarded guarded;
  guarded.frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  guarded.run = run;
  const ThreadGuard guard(guarded);
  CellOutcome outcome;
  if (sigsetjmp(guarded.way_out, 1) == 0)
    outcome = run_throwing(code, ThreadEnd::passes);
  else
    outcome = outcome_of(guarded.departure);
  const bool is_interrupted = outcome.kind == CellOutcome::Ending::interrupted;
  if (!outcome.is_ok() && !is_interrupted && !guarded.is_termination_interrupt)
    report_thread(run, std::move(outcome));
}

void CellGuard::interrupt() {
  if (!is_on_cell_thread()) {
    ++announced_requests;
    pthread_kill(cell_thread, SIGINT);
    return;
  }
  interrupt_requests = interrupt_requests + 1;
  if (is_to_be_left()) retry_timer.start();
}

void CellGuard::handle_interrupts() {
  retry_timer.make();
  struct sigaction action{};
  action.sa_sigaction = on_interrupt;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART: sleep() and the like end
  are_interrupts_handled = 1;
}

void CellGuard::forget_interrupts() {
  interrupt_requests = 0;
}

bool CellGuard::is_interrupt_pending() {
  return interrupt_requests > 0;
}

void CellGuard::begin_code() {
  if (has_code_begun) return;
  if (is_interrupt_pending()) answer_interrupt_in(while_compiled);  // no jump while it unwinds
  has_code_begun = 1;
}

const volatile int* CellGuard::interrupt_word() {
  return &interrupt_requests;
}

void CellGuard::answer_interrupt() {
  answer_interrupt_in("");
}

void CellGuard::answer_interrupt_in(const std::string& where) {
  if (can_throw()) throw Interruption{where};
}

bool CellGuard::can_answer_interrupt() {
  return is_interrupt_pending() && is_on_cell_thread() && can_throw();
}

void CellGuard::hold_jumps(bool holds) {
  has_jumps_held = holds;
}

bool CellGuard::is_cell_running() {
  return is_running && is_on_cell_thread();
}

bool CellGuard::is_cell_thread() {
  return is_on_cell_thread();
}

void CellGuard::leave_by_exit(int status) {
  if (Guarded* const guarded = guarded_here()) {
    guarded->departure.exit_status = status;
    leave(*guarded, Departure::by_exit);
  }
  std::cout.flush();
  std::fflush(nullptr);
  std::_Exit(status);
}

void CellGuard::leave_at_once(int status) {
  if (guarded_here()) leave_by_exit(status);
  std::_Exit(status);
}

}  // namespace px::cpp
