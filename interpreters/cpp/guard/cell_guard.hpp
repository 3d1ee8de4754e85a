#pragma once

#include <functional>
#include <memory>
#include <string>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// Runs user code on this thread. Returns whatever the code does: it returns, throws, is
/// interrupted, crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, stack overflow), aborts or exits. The
/// same holds for the threads that it starts, each of which ends in such a case; the run that has
/// started it fails then.
class CellGuard {
 public:
  /// Must be created by the thread that runs the user's code.
  CellGuard();
  ~CellGuard();
  CellGuard(CellGuard&&) = delete;

  /// When the user's code begins: at once, or when begin_code() is called. Before that the compiler
  /// runs, which must not be left in the middle: an interrupt waits until then.
  enum class Begin { at_once, when_told };
  CellOutcome run(const std::function<void()>& code, Begin begin = Begin::at_once);
  /// Called by a compiled cell before its first statement. Throws, like answer_interrupt(), if an
  /// interrupt came while the cell was compiled.
  static void begin_code();
  /// Whether code was ever left without unwinding. In this case objects of the libraries in between
  /// may be damaged: do not destroy them.
  bool has_jumped() const { return has_jumped_; }

  /// Identifies the present run, for threads that it starts.
  static unsigned long current_run();
  /// Runs the function of a thread that user code has started. Returns whatever the code does,
  /// unless it ends the thread (pthread_exit).
  /// run  the run that has started it: if that still runs, it fails with the thread and ends now;
  ///      otherwise stderr says how the thread has ended.
  static void run_thread(unsigned long run, const std::function<void()>& code);

  /// See CppSession.
  static void interrupt();
  static void handle_interrupts();
  static void forget_interrupts();
  static bool is_interrupt_pending();

  /// The compiled loops of cells read this word, and call the function if it is not zero.
  static const volatile int* interrupt_word();
  /// Throws if that is possible on this thread; otherwise returns.
  static void answer_interrupt();
  /// Like answer_interrupt().
  /// where  the position of the cell, for the user: "in MPI_Barrier".
  static void answer_interrupt_in(const std::string& where);
  /// Whether an interrupt is pending and answer_interrupt() would throw.
  static bool can_answer_interrupt();
  /// From true to false the first interrupt is about to be answered: two more are needed to leave
  /// the cell by force.
  static void hold_jumps(bool holds);
  /// Whether this thread is in run(), so that an exception ends the cell.
  static bool is_cell_running();
  /// Whether this is the thread that runs cells.
  static bool is_cell_thread();
  /// exit() in a cell calls this: it leaves the cell, or a thread of it, not the process. A process
  /// that the cell has made by fork() ends.
  static void leave_by_exit(int status);
  /// Like leave_by_exit(), for _exit(), which does not flush output.
  static void leave_at_once(int status);

 private:
  struct Stack;
  std::unique_ptr<Stack> stack_;
  bool has_jumped_ = false;
};

}  // namespace px::cpp
