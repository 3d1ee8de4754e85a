#pragma once

#include <functional>
#include <stdexcept>
#include <string>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// Thrown at a loop of the user's code; derived from nothing that a program catches by name.
struct Interruption {
  std::string where;
};

/// Thrown where a cell calls a function that cells have declared, but none has defined.
struct UndefinedFunction : std::logic_error {
  using std::logic_error::logic_error;
  /// What the compiler puts in place of such a function calls this, with its symbol.
  [[noreturn]] static void raise(const char* symbol);
};

/// Why std::cin or stdin has nothing to read; ends the cell that reads.
struct NoInput : std::runtime_error {
  using runtime_error::runtime_error;
};

/// How code was left without unwinding it.
struct Departure {
  static constexpr int by_interrupt = -1, by_exit = -2;
  int reason = 0;              ///< One of these, or the number of a signal.
  bool has_overflown = false;  ///< SIGSEGV at the end of the stack.
  int exit_status = 0;
  /// Why std::terminate() was called; empty where it was not.
  std::string termination = {};
};

/// What came of code that was left so.
CellOutcome outcome_of(const Departure& departure);

/// What pthread_exit() does to the code that called it.
enum class ThreadEnd { passes, aborts };
/// Runs the code. What it throws becomes the outcome.
CellOutcome run_throwing(const std::function<void()>& code, ThreadEnd end);

/// Why std::terminate() is being called: for its handler.
std::string reason_of_termination();

/// Whether it is being called because an interrupt was thrown at code that must not throw.
bool is_interruption_under_way();

/// What the C++ runtime knows about exceptions of this thread that are under way.
struct ExceptionState {
  void* caught;
  unsigned int uncaught;
};
ExceptionState& exception_state();

}  // namespace px::cpp
