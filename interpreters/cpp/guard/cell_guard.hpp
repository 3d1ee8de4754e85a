#pragma once

#include <functional>
#include <memory>
#include <string>

#include "interpreters/cpp/guard/cell_outcome.hpp"

namespace px::cpp {

/// Runs user code on this thread. Comes back whatever the code does: it returns, throws, is
/// interrupted, crashes (SIGSEGV, SIGBUS, SIGFPE, SIGILL, stack overflow), aborts or exits. So do
/// the threads that it starts, each of which ends; the run that has started it then fails.
class CellGuard {
 public:
  /// Must be created by the thread that runs the user's code.
  CellGuard();
  ~CellGuard();
  CellGuard(CellGuard&&) = delete;

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

  /// Names the run that goes on, for threads that it starts.
  static unsigned long current_run();
  /// Runs what a thread does that user code has started. Comes back whatever the code does, except
  /// where it ends the thread (pthread_exit). run  which run has started it: fails with it, ends
  /// now, if it goes on; otherwise stderr says how the thread has ended.
  static void run_thread(unsigned long run, const std::function<void()>& code);

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
  /// Whether this is the thread that runs cells.
  static bool is_cell_thread();
  /// What exit() in a cell calls: leaves the cell, or a thread of it, not the process. A process
  /// that the cell has made by fork() ends.
  static void leave_by_exit(int status);
  /// The same for _exit(), which leaves what was printed unwritten.
  static void leave_at_once(int status);

 private:
  struct Stack;
  std::unique_ptr<Stack> stack_;
  bool has_jumped_ = false;
};

}  // namespace px::cpp
