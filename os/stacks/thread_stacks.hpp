#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/descriptor.hpp"
#include "os/stacks/code_names.hpp"
#include "wire/time.hpp"

namespace px::os {

/// What one thread has answered.
struct ThreadCalls {
  pid_t thread = 0;
  std::string name = {};  ///< The kernel's name of it.
  char state = '?';  ///< As /proc has it: R runs, S waits, D waits in the kernel, T is stopped.
  bool is_main = false;
  bool has_answered = false;
  std::vector<std::uintptr_t> calls = {};  ///< Innermost first: addresses in instructions; bounded.
  std::string notes = {};                  ///< What the earlier handler of the signal has written.
};

/// What the threads of this process have answered.
struct TakenStacks {
  std::vector<ThreadCalls> threads = {};  ///< The main thread first.
  int hidden = 0;                         ///< Threads that block the signal: they were not asked.
  std::string why = {};                   ///< Why none was asked; else empty.
};

/// A real-time signal that nobody handles in this process; nothing if all are taken.
std::optional<int> find_stack_signal();

/// From now on take_stacks() works: each thread notes its own calls in the handler of this signal,
/// so neither ptrace nor any lock is needed, and a thread that hangs in C code answers, too. Then
/// it calls the handler that was there before, if there was one; what that writes into `notes`
/// becomes ThreadCalls::notes. Call it once in a process, before other threads take stacks.
/// notes  a file in memory (memory_file()), or closed.
void answer_stack_signal(int number, Descriptor notes);
/// A file in memory that no other process gets.
Descriptor memory_file(const char* name);

/// Asks the threads of this process, one after the other, each but the caller's and those that
/// block the signal: what waits in select(), nanosleep() and the like is woken with EINTR. Takes a
/// second at most, and as much again if a thread hangs while it answers, after which no thread is
/// asked any more. One thread calls it.
/// maps   own_code_maps(): a thread that the signal meets in the code that unwinds stacks, which
///        may hold a lock then, is asked again a moment later.
/// scope  who is asked. A main thread that runs may begin to wait before the signal reaches it.
TakenStacks take_stacks(const std::vector<MappedCode>& maps, StackScope scope = StackScope::all);

}  // namespace px::os
