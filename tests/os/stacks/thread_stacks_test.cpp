#include "os/stacks/thread_stacks.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

extern "C" void __register_frame(void* frames);
extern "C" void __deregister_frame(void* frames);

namespace px::os {
namespace {

#if defined(__SANITIZE_THREAD__)
constexpr bool delays_signals = true;  // until the next call of the C library
#else
constexpr bool delays_signals = false;
#endif

std::atomic<int> notes_of_test = -1;
std::atomic<bool> has_bad_handler = false;

void earlier_handler(int) {
  volatile int* volatile nowhere = reinterpret_cast<volatile int*>(0x18);
  if (has_bad_handler) *nowhere = 1;
  [[maybe_unused]] const auto done = ::write(notes_of_test, "noted", 5);
}

/// The signal of this process, which is chosen once.
int signal_of_test() {
  static const int number = [] {
    const int free = *find_stack_signal();
    struct sigaction action {};
    action.sa_handler = earlier_handler;
    ::sigaction(free, &action, nullptr);
    Descriptor notes = memory_file("notes");
    notes_of_test = notes.value();
    answer_stack_signal(free, std::move(notes));
    return free;
  }();
  return number;
}

class ThreadStacksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (delays_signals) GTEST_SKIP() << "signals come late here";
    signal_of_test();
  }
};

[[gnu::noinline]] void spin_in_a_loop(const std::atomic<bool>& ends) {
  while (!ends) {
  }
}

[[gnu::noinline]] void read_from_a_pipe(int pipe, char& got) {
  [[maybe_unused]] const auto count = ::read(pipe, &got, 1);
}

[[gnu::noinline]] void throw_and_catch(const std::atomic<bool>& ends) {
  while (!ends) try {
      throw std::runtime_error("no luck");
    } catch (const std::runtime_error&) {
    }
}

/// A thread of this test, by what runs in it. It is ended with the test.
class Running {
 public:
  template <class Work>
  explicit Running(Work work, std::atomic<bool>* ends = nullptr) : ends_(ends) {
    std::promise<pid_t> number;
    thread_ = std::thread([work, &number] {
      number.set_value(::gettid());
      work();
    });
    number_ = number.get_future().get();
  }
  ~Running() {
    if (ends_) *ends_ = true;
    thread_.join();
  }
  Running(Running&&) = delete;

  /// Of a look; nothing if it was not asked.
  std::optional<ThreadCalls> calls(const TakenStacks& taken) const {
    for (const ThreadCalls& thread : taken.threads)
      if (thread.thread == number_) return thread;
    return std::nullopt;
  }

 private:
  std::atomic<bool>* const ends_;
  std::thread thread_;
  pid_t number_ = 0;
};

bool has_function(const ThreadCalls& thread, const std::string& name) {
  CodeNames names{own_code_maps()};
  const auto frames = names.frames_of(thread.calls);
  return std::any_of(frames.begin(), frames.end(), [&](const StackFrame& frame) {
    return frame.function.find(name) != std::string::npos;
  });
}

/// Looks until the thread is in the function, as it may not be there yet.
ThreadCalls wait_for(const Running& running, const std::string& function) {
  for (int i = 0; i < 10'000; ++i)
    if (const auto found = running.calls(take_stacks(own_code_maps())))
      if (has_function(*found, function)) return *found;
  ADD_FAILURE() << "it was never in " << function;
  return {};
}

TEST_F(ThreadStacksTest, AThreadInALoopTellsItsCalls) {
  std::atomic<bool> ends = false;
  const Running running{[&ends] { spin_in_a_loop(ends); }, &ends};
  const ThreadCalls found = wait_for(running, "spin_in_a_loop");
  EXPECT_TRUE(found.has_answered);
  EXPECT_FALSE(found.is_main);
  EXPECT_GT(found.calls.size(), 1U);
  EXPECT_EQ(found.notes, "noted");
}

TEST_F(ThreadStacksTest, AThreadThatWaitsInTheKernelTellsItsCallsAndWaitsOn) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  char got = 0;
  {
    const Running running{[&] { read_from_a_pipe(pipe[0], got); }};
    wait_for(running, "read_from_a_pipe");
    ASSERT_EQ(::write(pipe[1], "x", 1), 1);
  }
  EXPECT_EQ(got, 'x');
  for (const int end : pipe) ::close(end);
}

TEST_F(ThreadStacksTest, AThreadThatBlocksSignalsIsNotAsked) {
  std::atomic<bool> ends = false, is_blocked = false;
  const Running running{[&] {
                          sigset_t all;
                          ::sigfillset(&all);
                          ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
                          is_blocked = true;
                          spin_in_a_loop(ends);
                        },
                        &ends};
  while (!is_blocked) std::this_thread::yield();
  const TakenStacks taken = take_stacks(own_code_maps());
  EXPECT_GE(taken.hidden, 1);
  EXPECT_FALSE(running.calls(taken).has_value());
}

TEST_F(ThreadStacksTest, AFaultWhileItAnswersIsNotTheEndOfTheProcess) {
  std::atomic<bool> ends = false;
  const Running running{[&ends] { spin_in_a_loop(ends); }, &ends};
  has_bad_handler = true;
  const ThreadCalls found = wait_for(running, "spin_in_a_loop");
  has_bad_handler = false;
  EXPECT_EQ(found.notes, "");
  EXPECT_EQ(wait_for(running, "spin_in_a_loop").notes, "noted");
}

/// A look at the main thread alone, by a thread, while the main thread does `meanwhile`. Repeated
/// until the main thread is in that state, as it may not have begun yet.
template <class Work>
ThreadCalls look_at_main(bool runs, Work meanwhile) {
  ThreadCalls found;
  std::atomic<bool> ends = false;
  std::thread looker{[&] {
    for (int i = 0; i < 10'000; ++i) {
      const TakenStacks taken = take_stacks(own_code_maps(), StackScope::running_main);
      if (taken.threads.size() != 1 || (taken.threads[0].state == 'R') != runs) continue;
      found = taken.threads[0];
      break;
    }
    ends = true;
  }};
  meanwhile(looker, ends);
  if (looker.joinable()) looker.join();
  return found;
}

TEST_F(ThreadStacksTest, TheMainThreadAloneIsAskedIfItRuns) {
  const ThreadCalls found =
      look_at_main(true, [](std::thread&, const std::atomic<bool>& ends) { spin_in_a_loop(ends); });
  EXPECT_TRUE(found.is_main);
  EXPECT_TRUE(found.has_answered);
  EXPECT_EQ(found.notes, "noted");
}

TEST_F(ThreadStacksTest, AMainThreadThatWaitsIsNotDisturbed) {
  const ThreadCalls found =
      look_at_main(false, [](std::thread& looker, const std::atomic<bool>&) { looker.join(); });
  EXPECT_TRUE(found.is_main);
  EXPECT_FALSE(found.has_answered);
  EXPECT_TRUE(found.calls.empty());
}

/// Code that was compiled at run time, as far as the code that unwinds stacks knows: it takes a
/// lock as long as there is some.
class RegisteredCode {
 public:
  RegisteredCode()
      : code_(::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    frames_.begin = reinterpret_cast<std::uintptr_t>(code_);
    __register_frame(&frames_);
  }
  ~RegisteredCode() {
    __deregister_frame(&frames_);
    ::munmap(code_, 4096);
  }
  RegisteredCode(RegisteredCode&&) = delete;

 private:
  /// In the form of .eh_frame: a common entry, one for the code, and the end.
  struct [[gnu::packed]] Frames {
    std::uint32_t common_size = 20, common_mark = 0;
    std::array<std::uint8_t, 16> common{1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1};
    std::uint32_t size = 24, back_to_common = 28;
    std::uint64_t begin = 0, length = 4096;
    std::uint32_t nothing = 0, end = 0;
  };

  void* const code_;
  Frames frames_;
};

TEST_F(ThreadStacksTest, AThreadThatThrowsAllTheTimeIsNotHeldUp) {
  const RegisteredCode code;
  std::atomic<bool> ends = false;
  const Running running{[&ends] { throw_and_catch(ends); }, &ends};
  // On a busy machine it may not be its turn while a look waits: that look has no answer of it, and
  // the next look may find it still in the handler of the signal.
  for (int looks = 0, answers = 0; answers < 20; ++looks) {
    ASSERT_LT(looks, 1'000) << answers << " answers";
    const TakenStacks taken = take_stacks(own_code_maps());
    ASSERT_EQ(taken.why, "");
    const auto found = running.calls(taken);
    ASSERT_TRUE(found || taken.hidden > 0);
    if (found && found->has_answered) ++answers;
  }
}

TEST_F(ThreadStacksTest, AHandlerOfTheUsersIsNotCalled) {
  struct sigaction ours {
  }, other{};
  other.sa_handler = [](int) { ADD_FAILURE() << "the signal was sent"; };
  ::sigaction(signal_of_test(), &other, &ours);
  const TakenStacks taken = take_stacks(own_code_maps());
  ::sigaction(signal_of_test(), &ours, nullptr);
  EXPECT_EQ(taken.why, "the user's code handles signal " + std::to_string(signal_of_test()));
  EXPECT_TRUE(taken.threads.empty());
}

}  // namespace
}  // namespace px::os
