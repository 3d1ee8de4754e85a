#pragma once

#include <unwind.h>

#include <cstdint>
#include <span>

namespace px::cpp {

/// The stack at the moment when an exception that leaves a cell was thrown, or when a cell crashed.
/// That of an exception is recorded while the runtime searches for a handler, when the exception
/// reaches the cell's outermost function; code that throws nothing, or catches it itself, is not
/// slowed down. For the thread that runs cells.
class CellStack {
 public:
  /// Of the last exception since clear(): addresses of calls, innermost first; bounded. They are in
  /// functions of cells and of libraries.
  static std::span<const std::uintptr_t> recorded();
  static void clear();
  /// For a signal handler: records the stack that the signal interrupted.
  static void record();
};

/// For signal handlers: whether user code may be left at the position of the signal (see LeftCode).
class SignalledCode {
 public:
  /// Finds the libraries. Call it before the first signal.
  static void prepare();

  /// context  the third argument of the handler.  frame  of the function that called the user's
  ///          code: an address in its part of the stack.
  static bool can_be_interrupted(const void* context, std::uintptr_t frame);
  /// After `signal`, a fault or SIGABRT.
  static bool can_be_survived(int signal, const void* context, std::uintptr_t frame);
};

}  // namespace px::cpp

extern "C" {

/// The personality routine of the function that the JIT calls first (see add_interrupt_points):
/// records the stack and catches nothing.
_Unwind_Reason_Code px_cell_personality(int version, _Unwind_Action actions,
                                        _Unwind_Exception_Class kind, _Unwind_Exception* exception,
                                        _Unwind_Context* context);
}
