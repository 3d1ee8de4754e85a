#include "interpreters/cpp/run/cell_stack.hpp"

#include <array>

namespace px::cpp {
namespace {

struct Stack {
  std::array<std::uintptr_t, 256> calls{};  // the innermost ones of a deep recursion
  std::size_t count = 0;
};
Stack recorded_stack;  // a process has one thread that runs cells

_Unwind_Reason_Code add_call(_Unwind_Context* context, void*) {
  if (recorded_stack.count == recorded_stack.calls.size()) return _URC_END_OF_STACK;
  int is_before = 0;  // else it is where the call returns to, which may be another line
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
  recorded_stack.calls[recorded_stack.count++] = is_before != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

}  // namespace

std::span<const std::uintptr_t> CellStack::recorded() {
  return {recorded_stack.calls.data(), recorded_stack.count};
}

void CellStack::clear() {
  recorded_stack.count = 0;
}

void CellStack::record() {
  clear();
  _Unwind_Backtrace(add_call, nullptr);
}

}  // namespace px::cpp

_Unwind_Reason_Code px_cell_personality(int, _Unwind_Action actions, _Unwind_Exception_Class,
                                        _Unwind_Exception*, _Unwind_Context*) {
  if ((actions & _UA_SEARCH_PHASE) != 0) px::cpp::CellStack::record();
  return _URC_CONTINUE_UNWIND;
}
