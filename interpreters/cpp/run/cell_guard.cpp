#include <cxxabi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <typeinfo>

#include "interpreters/cpp/run/cell_guard.hpp"
#include "interpreters/cpp/run/cell_input.hpp"
#include "interpreters/cpp/run/cell_stack.hpp"
#include "wire/error.hpp"

namespace px::cpp {
namespace {

/// Thrown at a loop of the user's code; derived from nothing that a program catches by name.
struct Interruption {
  std::string where;
};

constexpr const char* while_compiled = "while it was compiled";
constexpr std::size_t alternate_stack_bytes = 256 << 10;
constexpr std::array crash_signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr int left_by_interrupt = -1, left_by_exit = -2;  // beside the numbers of signals

// What signal handlers need; a process has one thread that runs cells.
alignas(64) volatile int interrupt_requests = 0;
volatile sig_atomic_t is_running = 0;
volatile sig_atomic_t has_code_begun = 0;
volatile sig_atomic_t has_jumps_held = 0;
volatile sig_atomic_t has_overflown = 0;
volatile sig_atomic_t crash = 0;  // the signal of the first one, or 0
volatile int exit_status = 0;
pthread_t cell_thread;
sigjmp_buf way_out;
std::array<struct sigaction, crash_signals.size()> earlier_actions;

bool is_on_cell_thread() {
  return pthread_equal(pthread_self(), cell_thread) != 0;
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

void on_crash(int number, siginfo_t* info, void* context) {
  if (is_running && is_on_cell_thread()) {
    if (crash == 0) {
      crash = number;
      has_overflown = number == SIGSEGV && is_stack_overflow(info, context);
      CellStack::record();  // to walk a damaged stack may be another crash
    }
    siglongjmp(way_out, crash);
  }
  for (std::size_t i = 0; i < crash_signals.size(); ++i)  // not ours: as if we were not there
    if (crash_signals[i] == number) sigaction(number, &earlier_actions[i], nullptr);
  if (info->si_code <= 0) raise(number);  // else the instruction is tried again
}

void on_interrupt(int) {
  CellGuard::interrupt();
}

void catch_crashes() {
  struct sigaction action{};
  action.sa_sigaction = on_crash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    sigaction(crash_signals[i], &action, &earlier_actions[i]);
}

void leave_crashes_alone() {
  for (std::size_t i = 0; i < crash_signals.size(); ++i)
    sigaction(crash_signals[i], &earlier_actions[i], nullptr);
}

std::string readable(const char* type_name) {
  int status = 0;
  char* text = abi::__cxa_demangle(type_name, nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type_name;
  std::free(text);
  for (std::size_t tag; (tag = name.find("[abi:")) != std::string::npos;)
    name.erase(tag, name.find(']', tag) + 1 - tag);
  return name;
}

CellOutcome failure(CellOutcome::Kind kind, std::string name, std::string value) {
  CellOutcome outcome{kind, std::move(name), std::move(value)};
  outcome.traceback = {outcome.error_name + ": " + outcome.error_value};
  return outcome;
}

CellOutcome thrown(const std::string& value) {
  const std::type_info* type = abi::__cxa_current_exception_type();
  return failure(CellOutcome::Kind::exception, type ? readable(type->name()) : "exception", value);
}

CellOutcome interrupted(const std::string& where) {
  return failure(CellOutcome::Kind::interrupted, "Interrupted",
                 "the cell was interrupted" + (where.empty() ? "" : " " + where));
}

/// The cell was left without unwinding.
CellOutcome left(int reason) {
  const std::string advice =
      ": no destructors ran, so its data may be damaged and locks may be held; "
      "restart the engine if results look wrong";
  if (reason == left_by_interrupt)
    return failure(CellOutcome::Kind::interrupted, "Interrupted",
                   "the cell did not react to the interrupt and was ended by force" + advice);
  if (reason == left_by_exit)
    return failure(CellOutcome::Kind::crashed, "Exited",
                   "exit(" + std::to_string(exit_status) + ") was called" + advice);
  const char* name = sigabbrev_np(reason);
  const std::string signal = "SIG" + std::string(name ? name : std::to_string(reason));
  std::string what = std::string(sigdescr_np(reason)) + " (" + signal + ")";
  if (has_overflown) what = "Stack overflow (" + signal + ")";
  if (reason == SIGABRT) what = "Aborted (" + signal + ", by abort, assert or std::terminate)";
  return failure(CellOutcome::Kind::crashed, "Crashed", what + advice);
}

/// What the C++ runtime knows about exceptions of this thread that are under way.
struct ExceptionState {
  void* caught;
  unsigned int uncaught;
};
ExceptionState& exception_state() {
  return *reinterpret_cast<ExceptionState*>(abi::__cxa_get_globals());
}

CellOutcome run_throwing(const std::function<void()>& code) {
  try {
    code();
    return {};
  } catch (const Interruption& interruption) {
    return interrupted(interruption.where);
  } catch (const NoInput& error) {
    return failure(CellOutcome::Kind::exception, "NoInput", error.what());
  } catch (const std::exception& error) {
    return thrown(error.what());
  } catch (const std::string& text) {
    return thrown(text);
  } catch (const char* text) {
    return thrown(text);
  } catch (int number) {
    return thrown(std::to_string(number));
  } catch (...) {
    return thrown("the cell threw an exception that is not a std::exception");
  }
}

bool is_in_parallel_region() {
  using Query = int (*)();
  const auto query = reinterpret_cast<Query>(dlsym(RTLD_DEFAULT, "omp_in_parallel"));
  return query && query();
}

}  // namespace

CellGuard::CellGuard()
    : alternate_stack_(mmap(nullptr, alternate_stack_bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
  check(alternate_stack_ != MAP_FAILED);
  const stack_t stack{alternate_stack_, 0, alternate_stack_bytes};
  sigaltstack(&stack, nullptr);
  cell_thread = pthread_self();
}

CellGuard::~CellGuard() {
  const stack_t none{nullptr, SS_DISABLE, 0};
  sigaltstack(&none, nullptr);
  munmap(alternate_stack_, alternate_stack_bytes);
}

CellOutcome CellGuard::run(const std::function<void()>& code, Begin begin) {
  const ExceptionState before = exception_state();
  has_overflown = 0;
  crash = 0;
  has_jumps_held = 0;
  has_code_begun = begin == Begin::at_once;
  CellOutcome outcome;
  catch_crashes();
  const int reason = sigsetjmp(way_out, 1);
  if (reason == 0) {
    is_running = 1;
    outcome = run_throwing(code);
    is_running = 0;
  } else {
    is_running = 0;
    has_jumped_ = true;
    exception_state() = before;
    outcome = left(reason);
  }
  leave_crashes_alone();
  if (outcome.kind == CellOutcome::Kind::interrupted) forget_interrupts();
  return outcome;
}

void CellGuard::interrupt() {
  if (!is_on_cell_thread()) {
    pthread_kill(cell_thread, SIGINT);
    return;
  }
  interrupt_requests = interrupt_requests + 1;
  const int answerable = has_jumps_held ? 3 : 1;
  if (interrupt_requests > answerable && is_running && has_code_begun)
    siglongjmp(way_out, left_by_interrupt);
}

void CellGuard::handle_interrupts() {
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);  // without SA_RESTART: sleep() and the like end
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
  if (is_running && is_on_cell_thread() && !is_in_parallel_region()) throw Interruption{where};
}

bool CellGuard::can_answer_interrupt() {
  return is_interrupt_pending() && is_running && is_on_cell_thread() && !is_in_parallel_region();
}

void CellGuard::hold_jumps(bool holds) {
  has_jumps_held = holds;
}

bool CellGuard::is_cell_running() {
  return is_running && is_on_cell_thread();
}

void CellGuard::leave_by_exit(int status) {
  exit_status = status;
  if (is_running && is_on_cell_thread()) siglongjmp(way_out, left_by_exit);
  std::_Exit(status);
}

}  // namespace px::cpp
