#pragma once

#include <functional>
#include <string>

#include "interpreters/cpp/run/cell_outcome.hpp"

namespace px::cpp {

/// Runs user code on this thread. Comes back whatever the code does: it returns, throws, is
/// interrupted, crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, stack overflow), aborts or exits.
class CellGuard {
 public:
  /// Must be created by the thread that runs the user's code: it alone is guarded.
  CellGuard();
  ~CellGuard();
  CellGuard(const CellGuard&) = delete;
  CellGuard& operator=(const CellGuard&) = delete;

  /// When the user's code begins: at once, or later, when begin_code() is called. What runs before
  /// is the compiler, which must not be left in the middle: an interrupt waits until then.
  enum class Begin { at_once, when_told };
  CellOutcome run(const std::function<void()>& code, Begin begin = Begin::at_once);
  /// Called by a compiled cell before its first statement. Throws, as answer_interrupt() does, if
  /// an interrupt came while the cell was compiled.
  static void begin_code();
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
  /// The same. where  where the cell was, for the user: "in MPI_Barrier".
  static void answer_interrupt_in(const std::string& where);
  /// Whether an interrupt is pending and answer_interrupt() would throw.
  static bool can_answer_interrupt();
  /// From true to false somebody is about to answer the first interrupt: it takes two more of them
  /// to leave the cell without its consent.
  static void hold_jumps(bool holds);
  /// Whether this thread is in run(), so that an exception ends the cell.
  static bool is_cell_running();
  /// What exit() in a cell calls: leaves the cell, not the process.
  static void leave_by_exit(int status);

 private:
  void* alternate_stack_;
  bool has_jumped_ = false;
};

}  // namespace px::cpp
