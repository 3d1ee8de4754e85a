#include "interpreters/cpp/guard/cell_guard.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>

// <cassert> declares it only where assertions are compiled.
extern "C" [[noreturn]] void __assert_fail(const char* assertion, const char* file,
                                           unsigned int line, const char* function) noexcept;

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

constexpr unsigned time_limit_s = 5;

/// The signal that ends a process that runs this, 0 where it comes to its end.  SIGALRM: it hangs.
int end_of(const std::function<void()>& code) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    ::close(STDERR_FILENO);
    ::signal(SIGALRM, SIG_DFL);
    ::alarm(time_limit_s);
    std::thread([] {
      for (;;) ::pause();
    }).detach();  // with one thread alone the C library takes no locks
    code();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return 0;
}

/// Interrupts this thread twice, at moments that differ.
void interrupt_soon(int number) {
  ::signal(SIGVTALRM, [](int) { ::raise(SIGINT); });
  const timeval first{0, 1000 + number * 137}, second{0, 700 + number * 71};
  const itimerval times{second, first};
  ::setitimer(ITIMER_VIRTUAL, &times, nullptr);
}

/// A signal handler of which the first 20 calls last longer than the pause between two tries to
/// end a cell.
void interrupt_and_take_a_while(int) {
  static int calls = 0;
  if (++calls > 20) return;
  CellGuard::interrupt();
  for (volatile int i = 0; i < 10'000'000;) i = i + 1;
}

void use_memory() {
  for (std::size_t size = 16; size < 200'000; size += size / 2 + 8) {
    void* volatile piece = std::malloc(size);
    std::free(piece);
  }
}

/// How a process ends that interrupts code which allocates, and allocates afterwards.
/// interrupt_soon  starts the timer of virtual time that does it.
int end_of_what_allocates(const std::function<void()>& interrupt_soon) {
  return end_of([&] {
    CellGuard guard;
    CellGuard::handle_interrupts();
    interrupt_soon();
    const CellOutcome outcome = guard.run([] {
      for (;;) use_memory();
    });
    EXPECT_EQ(outcome.kind, Kind::interrupted);
    ::setitimer(ITIMER_VIRTUAL, nullptr, nullptr);
    use_memory();
  });
}

TEST(CellGuard, LeavesNoLockBehindWhereItEndsCodeThatAllocates) {
  for (int number = 0; number < 20; ++number)
    EXPECT_EQ(end_of_what_allocates([number] { interrupt_soon(number); }), 0) << number;
}

TEST(CellGuard, LeavesNoLockBehindWhereItEndsASignalHandlerOfTheCell) {
  for (int number = 0; number < 5; ++number)
    EXPECT_EQ(end_of_what_allocates([] {
                ::signal(SIGVTALRM, interrupt_and_take_a_while);
                const itimerval times{{0, 1000}, {0, 1000}};
                ::setitimer(ITIMER_VIRTUAL, &times, nullptr);
              }),
              0)
        << number;
}

TEST(CellGuard, LeavesNoLockBehindWhereItEndsCodeThatThrows) {
  for (int number = 0; number < 10; ++number)
    EXPECT_EQ(end_of([number] {
                CellGuard guard;
                CellGuard::handle_interrupts();
                interrupt_soon(number);
                const auto throw_one = [] {
                  try {
                    throw 1;
                  } catch (int) {
                  }
                };
                guard.run([&] {
                  for (;;) throw_one();
                });
                ::setitimer(ITIMER_VIRTUAL, nullptr, nullptr);
                throw_one();
              }),
              0)
        << number;
}

TEST(CellGuard, EndsCodeThatWaitsForALockOfItsOwn) {
  EXPECT_EQ(end_of([] {
              CellGuard guard;
              CellGuard::handle_interrupts();
              std::mutex mutex;
              mutex.lock();
              ::signal(SIGALRM, [](int) { CellGuard::interrupt(); });
              const itimerval times{{0, 10'000}, {0, 10'000}};
              ::setitimer(ITIMER_REAL, &times, nullptr);
              const CellOutcome outcome = guard.run([&] { mutex.lock(); });
              EXPECT_EQ(outcome.kind, Kind::interrupted);
            }),
            0);
}

TEST(CellGuard, LetsTheProcessEndWhereTheCLibraryFindsTheHeapDamaged) {
  EXPECT_EQ(end_of([] {
              CellGuard guard;
              guard.run([] {
                void* volatile piece = std::malloc(5000);
                void* volatile keeps_it_from_the_end = std::malloc(16);
                std::free(piece);
                std::free(piece);
                std::free(keeps_it_from_the_end);
              });
            }),
            SIGABRT);
}

TEST(CellGuard, SurvivesAbortsOfTheCodeAndCrashesInHarmlessFunctions) {
  EXPECT_EQ(end_of([] {
              CellGuard guard;
              EXPECT_EQ(guard.run([] { std::abort(); }).kind, Kind::crashed);
              EXPECT_EQ(guard.run([] { __assert_fail("1 == 2", "cell", 1, "f"); }).kind,
                        Kind::crashed);
              EXPECT_EQ(guard.run([] { ::raise(SIGABRT); }).kind, Kind::crashed);
              const char* volatile nothing = nullptr;
              volatile std::size_t length = 0;
              EXPECT_EQ(guard.run([&] { length = std::strlen(nothing); }).kind, Kind::crashed);
              use_memory();
            }),
            0);
}

TEST(CellGuard, EndsAForkedChildWithTheCodeAndWritesWhatItPrinted) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  EXPECT_EQ(end_of([&] {
              ::dup2(pipe[1], STDOUT_FILENO);
              CellGuard guard;
              pid_t child = 0;
              guard.run([&] {
                child = ::fork();
                if (child == 0) std::cout << "of the child";
              });
              ::close(STDOUT_FILENO);
              int status = 0;
              EXPECT_EQ(::waitpid(child, &status, 0), child);
              EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
            }),
            0);
  char text[64]{};
  EXPECT_GT(::read(pipe[0], text, sizeof text - 1), 0);
  EXPECT_STREQ(text, "of the child");
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(CellGuard, TellsAnExceptionWithoutAText) {
  struct Silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
  };
  CellGuard guard;
  EXPECT_EQ(guard.run([] { throw Silent(); }).kind, Kind::exception);
  EXPECT_EQ(guard.run([] { throw static_cast<const char*>(nullptr); }).error_value,
            "the text of the exception is a null pointer");
}

}  // namespace
}  // namespace px::cpp
