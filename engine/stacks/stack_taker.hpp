#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "engine/stacks/asked_thread.hpp"
#include "os/stacks/process_stacks.hpp"

namespace px::engine {

/// The functions of an engine's language for its stacks. A thread calls them while user code runs,
/// so they take no lock that user code may hold.
struct StackSources {
  /// An address in the interpreter's own machine code, whose frames are left out; 0: there is none.
  std::uintptr_t interpreter_code = 0;
  /// The frames of cells at each of these addresses, innermost first: none if there is no cell's
  /// code, several if functions were inlined. Empty: there is no such code.
  std::function<std::vector<std::vector<os::StackFrame>>(std::span<const std::uintptr_t>)> cells =
      {};
};

/// Answers questions for the stacks of all threads of this engine: a thread, which the first
/// question starts, takes and names them while user code runs, whatever locks that holds.
/// Precondition: os::answer_stack_signal() was called; otherwise the answers say that it was not.
class StackTaker {
 public:
  /// waker  wakes the I/O thread.
  StackTaker(net::Waker waker, StackSources sources);
  ~StackTaker();
  StackTaker(StackTaker&&) = delete;

  /// The main thread: no stack is taken any more. Waits at most 2 s for stacks that are being
  /// taken.
  void close();

  // For the I/O thread.
  /// `then` is called from here or from on_time(), with the result of os::write_stacks(), for at
  /// least the threads of this scope.
  void ask(Instant now, os::StackScope scope, AskedThread::Then then);
  void on_time(Instant now) { shared_->questions.on_time(now); }
  std::optional<Instant> next_deadline() const { return shared_->questions.next_deadline(); }

 private:
  struct ThreadQuestions {
    AskedThread questions;
    std::atomic<bool> wants_all = false;  // whether one of the questions does
  };
  static void serve(ThreadQuestions& shared, StackSources sources);
  void start_thread();

  const std::shared_ptr<ThreadQuestions> shared_;  // shared with the thread, which may outlive this
                                                   // object
  const StackSources sources_;
  std::thread thread_;
};

}  // namespace px::engine
