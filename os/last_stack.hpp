#pragma once

#include <atomic>
#include <cstdint>

namespace px::os {

/// What a signal handler may ask for the name of code that no file holds, such as code that was
/// compiled at run time. Takes no lock and allocates nothing. Null: not known.
using NameOfCode = const char* (*)(std::uintptr_t address);

/// From now on this process says where it was when SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT ends
/// it, as far as nobody handles these otherwise: a headline, and a line for each call, innermost
/// first, "/usr/lib/libm.so.6+0x3c0" or what `name` says. They go to standard error. Call it before
/// others take over these signals: they pass on what they do not want.
void write_last_stack(NameOfCode name);

/// A sentence that stands below the headline, for a signal handler that knows more than the signal
/// says; null: none.
inline std::atomic<const char*> last_stack_reason = nullptr;

/// What the headline begins with.
inline constexpr const char* last_stack_headline = "last calls before ";
/// What stands before the headline in the pipe of tell_last_stack().
inline constexpr char last_stack_mark = '\x02';

/// The lines go there as well, behind the mark; -1: no more.
void tell_last_stack(int descriptor);

}  // namespace px::os
