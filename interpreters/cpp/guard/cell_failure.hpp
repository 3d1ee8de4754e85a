#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// Thrown in a loop of the user's code; not derived from a class that a program catches by name.
struct Interruption {
  std::string where;
};

/// Thrown if a cell calls a function that cells have declared, but not defined.
struct UndefinedFunction : std::logic_error {
  using std::logic_error::logic_error;
  /// The compiler replaces such a function by a call of this one, with its symbol.
  [[noreturn]] static void raise(const char* symbol);
};

/// Why std::cin or stdin has no input; ends the cell that reads.
struct NoInput : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How code was left without unwinding.
struct Departure {
  static constexpr int by_interrupt = -1, by_exit = -2;
  int reason = 0;              ///< One of these, or the number of a signal.
  bool has_overflown = false;  ///< SIGSEGV at the end of the stack.
  int exit_status = 0;
  /// Why std::terminate() was called; empty if it was not.
  std::string termination = {};
};

/// The outcome of code that was left in this way.
CellOutcome outcome_of(const Departure& departure);

/// The effect of pthread_exit() on the code that called it.
enum class ThreadEnd { passes, aborts };
/// Runs the code. An exception becomes the outcome.
CellOutcome run_throwing(const std::function<void()>& code, ThreadEnd end);

/// Why std::terminate() is being called: for its handler.
std::string reason_of_termination();

/// Whether it is being called because an interrupt was thrown in code that must not throw.
bool is_interruption_under_way();

/// The C++ runtime's record of active exceptions of this thread.
struct ExceptionState {
  void* caught;
  unsigned int uncaught;
};
ExceptionState& exception_state();

}  // namespace px::cpp
