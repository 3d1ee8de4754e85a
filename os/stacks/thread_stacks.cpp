#include "os/stacks/thread_stacks.hpp"

#include <errno.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "os/private_file.hpp"
#include "wire/error.hpp"
#include "wire/text.hpp"

/// libgcc's: which registered code has the address.
extern "C" [[gnu::weak]] const void* _Unwind_Find_FDE(void* address, void* bases);

namespace px::os {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t most_noted_calls = 128, most_threads = 256, words_of_top = 256;
constexpr Duration patience_for_all = std::chrono::seconds(1), patience_for_one = milliseconds(400),
                   patience_in_handler = std::chrono::seconds(1),
                   pause_of_unwinder = milliseconds(1);
constexpr int most_tries = 20;

// ---------------------------------------------------------------- what the handler needs
// It runs on the asked thread, whatever that holds: it allocates nothing and takes no lock. One
// thread answers at a time.

std::atomic<int> asked = 0;  // the number of the question; negative: a thread answers it; 0: none
sem_t has_answered;
int stack_signal = 0;
struct sigaction earlier_action {};
Descriptor notes_file;

std::array<std::uintptr_t, most_noted_calls> noted_calls;
std::size_t noted_count = 0;
bool is_in_unwinder = false;
bool walks_anyway = false;
std::uintptr_t unwinder_begin = 0, unwinder_end = 0;

// A walk over a damaged stack may read what is not mapped: that is its end, not the process's.
std::atomic<pid_t> walker = 0;
sigjmp_buf way_out;
constexpr std::array fault_signals = {SIGSEGV, SIGBUS};
std::array<struct sigaction, fault_signals.size()> fault_actions;

struct InterruptedCode {
  std::uintptr_t instruction = 0, stack = 0;

  explicit InterruptedCode(const void* context) {
    const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    instruction = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
    stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
    instruction = machine.pc;
    stack = machine.sp;
#else
    (void)machine;
#endif
  }
};

bool is_of_unwinder(std::uintptr_t address) {
  return address >= unwinder_begin && address < unwinder_end;
}

/// Calls `walk`; a fault in it is its end.
void guard(void (*walk)(const InterruptedCode&), const InterruptedCode& interrupted) {
  if (sigsetjmp(way_out, 1) == 0) {
    walker = ::gettid();
    walk(interrupted);
  }
  walker = 0;
}

/// It reads what others keep on the stack, which AddressSanitizer does not allow.
[[gnu::no_sanitize("address")]] void look_for_unwinder(const InterruptedCode& interrupted) {
  if (unwinder_end == 0) return;
  is_in_unwinder = is_of_unwinder(interrupted.instruction);
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(interrupted.stack);
  for (std::size_t i = 0; !is_in_unwinder && words && i < words_of_top; ++i)
    is_in_unwinder = is_of_unwinder(words[i]);
}

_Unwind_Reason_Code note_call(_Unwind_Context* context, void* has_begun) {
  int is_interrupted = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_interrupted);
  bool& begun = *static_cast<bool*>(has_begun);
  if (!begun) {  // still in the handler
    begun = is_interrupted != 0;
    return _URC_NO_REASON;
  }
  if (noted_count == most_noted_calls || address == 0) return _URC_END_OF_STACK;
  // Else it is where the call returns to, which may be the next function.
  noted_calls[noted_count++] = is_interrupted != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

void walk_calls(const InterruptedCode&) {
  bool has_begun = false;
  _Unwind_Backtrace(note_call, &has_begun);
}

void call_earlier_handler(const InterruptedCode&) {
  if ((earlier_action.sa_flags & SA_SIGINFO) == 0 && earlier_action.sa_handler != SIG_DFL &&
      earlier_action.sa_handler != SIG_IGN)
    earlier_action.sa_handler(stack_signal);
}

void on_stack_signal(int, siginfo_t* info, void* context) {
  const int interrupted_errno = errno;
  int question = info->si_value.sival_int;
  if (info->si_code == SI_QUEUE && info->si_pid == ::getpid() && question > 0 &&
      asked.compare_exchange_strong(question, -question)) {
    const InterruptedCode interrupted{context};
    noted_count = 0;
    noted_calls[noted_count++] = interrupted.instruction;
    is_in_unwinder = false;
    guard(look_for_unwinder, interrupted);
    if (!is_in_unwinder || walks_anyway) guard(walk_calls, interrupted);
    guard(call_earlier_handler, interrupted);
    ::sem_post(&has_answered);
  }
  errno = interrupted_errno;
}

void on_fault(int number, siginfo_t* info, void* context) {
  if (walker == ::gettid()) siglongjmp(way_out, 1);
  const struct sigaction& earlier = fault_actions[number == SIGSEGV ? 0 : 1];
  if ((earlier.sa_flags & SA_SIGINFO) != 0) return earlier.sa_sigaction(number, info, context);
  if (earlier.sa_handler != SIG_DFL && earlier.sa_handler != SIG_IGN)
    return earlier.sa_handler(number);
  ::sigaction(number, &earlier, nullptr);   // as if we were not there
  if (info->si_code <= 0) ::raise(number);  // else the instruction is tried again
}

/// Takes faults over while threads answer.
class FaultsTaken {
 public:
  FaultsTaken() {
    for (std::size_t i = 0; i < fault_signals.size(); ++i) {
      ::sigaction(fault_signals[i], nullptr, &fault_actions[i]);
      struct sigaction action = fault_actions[i];  // its mask, and its stack
      action.sa_sigaction = on_fault;
      action.sa_flags |= SA_SIGINFO | SA_ONSTACK;
      ::sigaction(fault_signals[i], &action, nullptr);
    }
  }
  /// A handler that was set meanwhile stays.
  ~FaultsTaken() {
    for (std::size_t i = 0; i < fault_signals.size(); ++i) {
      struct sigaction now {};
      ::sigaction(fault_signals[i], nullptr, &now);
      if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault)
        ::sigaction(fault_signals[i], &fault_actions[i], nullptr);
    }
  }
  FaultsTaken(FaultsTaken&&) = delete;
};

// ---------------------------------------------------------------- the thread that asks

bool is_handled_by_us() {
  struct sigaction now {};
  return stack_signal != 0 && ::sigaction(stack_signal, nullptr, &now) == 0 &&
         (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_stack_signal;
}

bool wait_for_answer(Instant deadline) {
  const auto since = deadline.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec time{seconds.count(),
                      static_cast<long>(std::chrono::nanoseconds(since - seconds).count())};
  int result = 0;
  while ((result = ::sem_clockwait(&has_answered, CLOCK_MONOTONIC, &time)) != 0 && errno == EINTR) {
  }
  return result == 0;
}

/// What follows "Name:\t" in the text of /proc/self/task/7/status.
std::string_view field_of(std::string_view status, std::string_view name) {
  const std::size_t begin = status.find("\n" + std::string(name) + ":\t");
  if (begin == std::string_view::npos) return "";
  status.remove_prefix(begin + name.size() + 3);
  return status.substr(0, status.find('\n'));
}

std::string status_of(pid_t thread) {
  const auto read = read_file("/proc/self/task/" + std::to_string(thread) + "/status");
  return "\n" + (read ? *read : "");
}

/// Whether it blocks the signal, by that text.
bool is_deaf(std::string_view status) {
  const std::string_view mask = field_of(status, "SigBlk");
  std::uint64_t bits = 0;
  std::from_chars(mask.data(), mask.data() + mask.size(), bits, 16);
  return (bits >> (stack_signal - 1) & 1) != 0;
}

std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> threads;
  std::error_code error;
  std::filesystem::directory_iterator each{"/proc/self/task", error}, end;
  for (; !error && each != end; each.increment(error))
    if (const auto thread = read_whole_number(each->path().filename().string()))
      threads.push_back(static_cast<pid_t>(*thread));
  std::sort(threads.begin(), threads.end());  // the main thread has the number of the process
  std::stable_partition(threads.begin(), threads.end(),
                        [](pid_t thread) { return thread == ::getpid(); });
  return threads;
}

/// One look at all threads.
class Look {
 public:
  explicit Look(const std::vector<MappedCode>& maps) {
    find_unwinder(maps);
    // What the first walk would allocate, and sort, is done here.
    _Unwind_Backtrace([](_Unwind_Context*, void*) { return _URC_NO_REASON; }, nullptr);
    std::array<void*, 4> bases{};
    if (_Unwind_Find_FDE) _Unwind_Find_FDE(&bases, bases.data());
  }

  /// False: the thread has not come back from its handler, so nobody is to be asked any more.
  bool ask(ThreadCalls& thread) {
    bool has_moved = false;
    for (int i = 0; i < most_tries; ++i) {
      // What stands still only looks as if it were in the unwinder: old words lie on its stack.
      walks_anyway = i == most_tries - 1 && !has_moved;
      const ThreadAnswer answer =
          ask_once(thread.thread, std::min(Clock::now() + patience_for_one, end_));
      if (answer == ThreadAnswer::stuck) return false;
      if (answer == ThreadAnswer::none) return true;
      has_moved = has_moved || (i > 0 && thread.calls.front() != noted_calls.front());
      thread.has_answered = true;
      thread.calls.assign(noted_calls.begin(),
                          noted_calls.begin() + static_cast<std::ptrdiff_t>(noted_count));
      thread.notes = take_notes();
      if (answer == ThreadAnswer::given) return true;
      std::this_thread::sleep_for(pause_of_unwinder);
    }
    return true;
  }

 private:
  enum class ThreadAnswer { given, none, in_unwinder, stuck };

  /// The unwinder takes its lock only if code that was compiled at run time is registered there.
  static void find_unwinder(const std::vector<MappedCode>& maps) {
    unwinder_begin = unwinder_end = 0;
    if (std::none_of(maps.begin(), maps.end(),
                     [](const MappedCode& code) { return code.path.empty(); }))
      return;
    for (const MappedCode& code : maps) {
      if (code.path.find("/libgcc_s.so") == std::string::npos) continue;
      unwinder_begin = unwinder_begin == 0 ? code.begin : std::min(unwinder_begin, code.begin);
      unwinder_end = std::max(unwinder_end, code.end);
    }
  }

  ThreadAnswer ask_once(pid_t thread, Instant deadline) {
    while (::sem_trywait(&has_answered) == 0) {
    }
    if (notes_file.is_open()) empty_notes();
    static int question = 0;
    question = question % 1'000'000 + 1;
    siginfo_t info{};
    info.si_code = SI_QUEUE;
    info.si_pid = ::getpid();
    info.si_uid = ::getuid();
    info.si_value.sival_int = question;
    asked = question;
    if (::syscall(SYS_rt_tgsigqueueinfo, ::getpid(), thread, stack_signal, &info) != 0) {
      asked = 0;
      return ThreadAnswer::none;
    }
    if (!wait_for_answer(deadline)) {
      int expected = question;
      if (asked.compare_exchange_strong(expected, 0))
        return ThreadAnswer::none;  // it may come too late
      if (!wait_for_answer(Clock::now() + patience_in_handler)) return ThreadAnswer::stuck;
    }
    asked = 0;
    return is_in_unwinder && !walks_anyway ? ThreadAnswer::in_unwinder : ThreadAnswer::given;
  }

  static void empty_notes() {
    [[maybe_unused]] const int done = ::ftruncate(notes_file.value(), 0);
    ::lseek(notes_file.value(), 0, SEEK_SET);
  }

  static std::string take_notes() {
    if (!notes_file.is_open()) return "";
    std::string notes(std::size_t{64} << 10, '\0');
    const ssize_t size = ::pread(notes_file.value(), notes.data(), notes.size(), 0);
    notes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return notes;
  }

  const FaultsTaken faults_;
  const Instant end_ = Clock::now() + patience_for_all;
};

std::atomic<bool> is_stuck = false;

}  // namespace

std::optional<int> find_stack_signal() {
  for (int number = SIGRTMAX - 1; number > SIGRTMIN; --number) {
    struct sigaction now {};
    if (::sigaction(number, nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
        now.sa_handler == SIG_DFL)
      return number;
  }
  return std::nullopt;
}

Descriptor memory_file(const char* name) {
  return Descriptor{::memfd_create(name, MFD_CLOEXEC)};
}

void answer_stack_signal(int number, Descriptor notes) {
  check(stack_signal == 0 && ::sem_init(&has_answered, 0, 0) == 0);
  notes_file = std::move(notes);
  stack_signal = number;
  struct sigaction action {};
  action.sa_sigaction = on_stack_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  // A handler that leaves the user's code by a jump is not to leave ours.
  ::sigfillset(&action.sa_mask);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    ::sigdelset(&action.sa_mask, fault);
  ::sigaction(number, &action, &earlier_action);
}

TakenStacks take_stacks(const std::vector<MappedCode>& maps, StackScope scope) {
  if (is_stuck) return {.why = "a thread has been hanging since it was asked for its stack"};
  if (!is_handled_by_us())
    return {.why = stack_signal == 0
                       ? "this process does not answer it"
                       : "the user's code handles signal " + std::to_string(stack_signal)};
  TakenStacks taken;
  Look look{maps};
  static std::vector<pid_t> asked_before;
  const std::vector<pid_t> asked_last = std::exchange(asked_before, {});
  for (const pid_t thread : threads_of_process()) {
    if (thread == ::gettid()) continue;
    const bool is_main = thread == ::getpid();
    if (!is_main && scope == StackScope::running_main) break;
    std::string status = status_of(thread);
    if (std::binary_search(asked_last.begin(), asked_last.end(), thread) && is_deaf(status)) {
      std::this_thread::sleep_for(pause_of_unwinder);  // it has not left its handler yet
      status = status_of(thread);
    }
    const std::string_view state = field_of(status, "State");
    if (state.empty()) continue;  // it has ended
    if (is_deaf(status)) ++taken.hidden;
    if (is_deaf(status) && !is_main) continue;
    if (taken.threads.size() == most_threads) break;
    ThreadCalls& calls =
        taken.threads.emplace_back(ThreadCalls{.thread = thread,
                                               .name = std::string(field_of(status, "Name")),
                                               .state = state.front(),
                                               .is_main = is_main});
    if (scope == StackScope::running_main && calls.state != 'R') break;
    if (is_deaf(status)) continue;
    is_stuck = !look.ask(calls);
    if (is_stuck) break;
    asked_before.push_back(thread);  // also without an answer: the signal may reach it later
  }
  std::sort(asked_before.begin(), asked_before.end());
  return taken;
}

}  // namespace px::os
