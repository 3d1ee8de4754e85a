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

/// What the language of an engine knows of its stacks. A thread calls these functions while user
/// code runs, so they take no lock that user code may hold.
struct StackSources {
  /// An address in the interpreter's own machine code, which is left out; 0: there is none.
  std::uintptr_t interpreter_code = 0;
  /// The frames of cells at each of these addresses, innermost first: none where no cell's code is,
  /// several where functions were inlined. Empty: there is no such code.
  std::function<std::vector<std::vector<os::StackFrame>>(std::span<const std::uintptr_t>)> cells =
      {};
};

/// Answers questions for the stacks of all threads of this engine: a thread, which is started by
/// the first question, takes and names them, while user code runs, and whatever that holds.
/// Precondition: os::answer_stack_signal() was called; else the answers say that it was not.
class StackTaker {
 public:
  /// waker  wakes the I/O thread.
  StackTaker(net::Waker waker, StackSources sources);
  ~StackTaker();
  StackTaker(StackTaker&&) = delete;

  /// The main thread: no stack is taken any more. Waits for a look that is under way, 2 s at most.
  void close();

  // For the I/O thread.
  /// `then` is called from here or from on_time(), with what os::write_stacks() makes: of so many
  /// threads at least.
  void ask(Instant now, os::StackScope scope, AskedThread::Then then);
  void on_time(Instant now) { shared_->questions.on_time(now); }
  std::optional<Instant> next_deadline() const { return shared_->questions.next_deadline(); }

 private:
  struct ThreadQuestions {
    AskedThread questions;
    std::atomic<bool> wants_all = false;  // one of the questions does
  };
  static void serve(ThreadQuestions& shared, StackSources sources);
  void start_thread();

  const std::shared_ptr<ThreadQuestions> shared_;  // with the thread, which may live longer
  const StackSources sources_;
  std::thread thread_;
};

}  // namespace px::engine
