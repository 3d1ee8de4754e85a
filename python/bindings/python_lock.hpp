#pragma once

#include <pybind11/pybind11.h>

#include <exception>
#include <functional>
#include <optional>

#include "wire/time.hpp"

namespace px::bindings {

/// Lets go of Python's lock and takes it again. Where the interpreter ends meanwhile the thread
/// stays here for ever, as Python wants it from threads that outlive it.
class Unlocked {
 public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(Unlocked&&) = delete;
  /// Precondition: called once, at the end. Not the destructor: taking the lock may end the thread,
  /// for which Python unwinds the stack.
  void lock();

 private:
  PyThreadState* state_;
};

/// Calls `action` without Python's lock.
template <class Action>
void without_lock(Action action) {
  Unlocked unlocked;
  std::exception_ptr problem;
  try {
    action();
  } catch (const std::exception&) {
    problem = std::current_exception();
  }
  unlocked.lock();
  if (problem) std::rethrow_exception(problem);
}

/// A point in time so many seconds from now; nothing for nothing or a negative number: for ever.
std::optional<Instant> deadline_in(std::optional<double> seconds);

/// Waits without Python's lock; Ctrl-C ends it with KeyboardInterrupt. False when the time is over.
/// wait  waits until an instant; true once what is waited for is there.
bool wait_interruptibly(std::optional<double> seconds, const std::function<bool(Instant)>& wait);

}  // namespace px::bindings
