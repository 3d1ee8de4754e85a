#pragma once

#include <functional>

#include <px/interpreters/cpp/cell_outcome.hpp>

namespace px {

/// Runs user code on this thread. Comes back whatever the code does: it returns, throws, is
/// interrupted, crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, stack overflow), aborts or exits.
class CellGuard {
 public:
  /// Must be created by the thread that runs the user's code: it alone is guarded.
  CellGuard();
  ~CellGuard();
  CellGuard(const CellGuard&) = delete;
  CellGuard& operator=(const CellGuard&) = delete;

  CellOutcome run(const std::function<void()>& code);
  /// Whether some code was ever left without unwinding it. Then objects of the libraries that it
  /// went through may be damaged: better not destroy them.
  bool has_jumped() const { return has_jumped_; }

  /// See CppSession.
  static void interrupt();
  static void handle_interrupts();
  static void forget_interrupts();
  static bool is_interrupt_pending();

  /// The compiled loops of cells read this word, and call the function where it is not zero.
  static const volatile int* interrupt_word();
  /// Throws where it can be thrown on this thread; otherwise returns.
  static void answer_interrupt();
  /// What exit() in a cell calls: leaves the cell, not the process.
  static void leave_by_exit(int status);

 private:
  void* alternate_stack_;
  bool has_jumped_ = false;
};

}  // namespace px
