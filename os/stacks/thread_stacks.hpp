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

/// The answer of one thread.
struct ThreadCalls {
  pid_t thread = 0;
  std::string name = {};  ///< The kernel's name for it.
  char state = '?';       ///< As in /proc: R runs, S waits, D waits in the kernel, T is stopped.
  bool is_main = false;
  bool has_answered = false;
  std::vector<std::uintptr_t> calls = {};  ///< Innermost first: addresses in instructions; bounded.
  std::string notes = {};                  ///< The output of the signal's earlier handler.
};

/// The answers of the threads of this process.
struct TakenStacks {
  std::vector<ThreadCalls> threads = {};  ///< The main thread first.
  int hidden = 0;                         ///< Threads that block the signal: they were not asked.
  std::string why = {};                   ///< Why none was asked; otherwise empty.
};

/// A real-time signal that has no handler in this process; nothing if all are in use.
std::optional<int> find_stack_signal();

/// Enables take_stacks(): each thread records its own calls in the handler of this signal, so
/// neither ptrace nor a lock is needed, and a thread that hangs in C code answers, too. After that
/// the earlier handler is called, if there was one; its output to `notes` becomes
/// ThreadCalls::notes. Call it once in a process, before other threads take stacks.
/// notes  a file in memory (memory_file()), or closed.
void answer_stack_signal(int number, Descriptor notes);
/// A file in memory that no other process can open.
Descriptor memory_file(const char* name);

/// Asks the threads of this process, one after the other, except the caller and those that block
/// the signal: blocking calls such as select() and nanosleep() return with EINTR. Takes at most a
/// second, and as much again if a thread hangs while it answers, after which no thread is asked any
/// more. One thread calls it.
/// maps   own_code_maps(): a thread that the signal interrupts in the code that unwinds stacks,
///        which may hold a lock there, is asked again a moment later.
/// scope  the threads to ask. A main thread that runs may begin to wait before the signal reaches
///        it.
TakenStacks take_stacks(const std::vector<MappedCode>& maps, StackScope scope = StackScope::all);

}  // namespace px::os
