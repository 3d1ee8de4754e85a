#pragma once

#include <atomic>
#include <cstdint>

namespace px::os {

/// A function that a signal handler may call for the name of code that no file contains, such as
/// code compiled at run time. Takes no lock and allocates nothing. Null: unknown.
using NameOfCode = const char* (*)(std::uintptr_t address);

/// From now on this process reports its position when SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT
/// ends it, unless other handlers catch these signals: a headline, and a line for each call,
/// innermost first, "/usr/lib/libm.so.6+0x3c0" or the result of `name`. They are written to
/// standard error. Call it before other code installs handlers for these signals: those pass on the
/// signals that they do not handle.
void write_last_stack(NameOfCode name);

/// A sentence below the headline, for a signal handler that knows more than the signal; null: none.
inline std::atomic<const char*> last_stack_reason = nullptr;

/// The beginning of the headline.
inline constexpr const char* last_stack_headline = "last calls before ";
/// Precedes the headline in the pipe of tell_last_stack().
inline constexpr char last_stack_mark = '\x02';

/// The lines are also written there, after the mark; -1: no longer.
void tell_last_stack(int descriptor);

}  // namespace px::os
