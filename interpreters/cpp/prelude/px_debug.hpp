#pragma once

#include "interpreters/cpp/prelude/px_exports.hpp"

#ifdef __clang__  // the compiler of cells
namespace px {

/// Stops in the debugger that is attached to this process, in the line of the call. Has no effect
/// if none is attached.
__attribute__((always_inline, nodebug)) inline void breakpoint() {
  if (px_cell_is_debugged()) __builtin_debugtrap();
}

}  // namespace px
#endif
