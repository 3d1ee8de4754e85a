#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "interpreters/cpp/assist/suggestion.hpp"
#include "interpreters/cpp/cells/macro_text.hpp"
#include "interpreters/cpp/compile/compiler_options.hpp"
#include "interpreters/cpp/guard/cell_outcome.hpp"
#include "wire/error.hpp"

namespace px::cpp {

/// A C++ program that grows cell by cell: clang's incremental compiler behind a plain interface.
/// Definitions of a failed cell never take effect; definitions of earlier cells stay, whatever
/// happens. The main thread makes all calls; there is one session in a process.
class CppSession {
 public:
  using Options = CompilerOptions;

  /// errors  bad_input: flags or a prelude that clang rejects.
  static Result<std::unique_ptr<CppSession>> create(Options options);
  ~CppSession();
  CppSession(CppSession&&) = delete;

  /// The differences from the options when the session was created; "" if there are none.
  const std::string& warning() const;

  /// Compiles `code` in a forked child, so that nothing is defined or changed here: ok,
  /// compile_error or interrupted. `name` appears in the compiler's messages: "cell 3".
  CellOutcome check(const std::string& code, const std::string& name);
  /// Calls check() (unless this code was just checked), compiles it here and runs it.
  CellOutcome run(const std::string& code, const std::string& name);
  /// The text that debuggers show for the next cell of this name, in place of the code that runs.
  /// Has no effect if the flags do not ask for debug information (-g).
  void show_to_debuggers(const std::string& name, const std::string& text);
  /// Calls a compiled function under the guards under which cells run.
  CellOutcome call(const std::function<void()>& function);
  /// The compiler's warnings about the cell that was checked last.
  const std::string& warnings() const;

  /// errors  not_found: there is no such folder.
  Result<void> add_include_folder(const std::string& folder);
  /// A folder in which load_library() searches for names without a path.
  void add_library_folder(const std::string& folder);
  /// A path, the file name of a library (libm.so.6), or its name alone (m).
  /// errors  not_found: the loader's message.
  Result<void> load_library(const std::string& name);

  /// The possible replacements of the word at `cursor` (in bytes); see suggestions_at().
  struct Completions {
    std::vector<Suggestion> suggestions = {};  ///< The most likely first, each text once.
    std::size_t begin = 0;                     ///< The beginning of the word that they replace.
  };
  Completions complete(const std::string& code, std::size_t cursor);
  /// Declaration, documentation and place of the name at `cursor`, or the functions that a call may
  /// mean if the cursor is inside its parentheses; see help_at().
  std::optional<std::string> inspect(const std::string& code, std::size_t cursor);

  /// A macro that is defined; none if it is built in.
  std::optional<MacroBody> macro(const std::string& name);
  /// For a type that cells can name, "Colour::red"; "" if it is not an enumeration, or has no such
  /// value.
  std::string enumerator_of(const std::string& type, long long value);
  /// The names of the members of a class, in their order; none if it is unknown.
  std::vector<std::string> members_of(const std::string& type);
  /// Whether a variable, function, type, template or namespace has this name, qualified or not.
  bool is_defined(const std::string& name);
  /// The variables that cells have defined and no later one has redefined, oldest first; without
  /// those of headers and namespaces.
  std::vector<std::string> variables();
  /// Differs for each definition of an unqualified global name; null if there is none.
  const void* identity(const std::string& name);

  /// Asks the running cell to end. Loops check for it; a second request while the first is not
  /// answered leaves the cell by force. From any thread and from signal handlers; threads other
  /// than the session's send SIGINT to it, so handle_interrupts() must have been called.
  static void interrupt();
  /// Calls interrupt() on SIGINT.
  static void handle_interrupts();
  static bool is_interrupt_pending();
  /// Drops an interrupt that came too late for the last cell.
  static void forget_interrupts();

 private:
  struct State;
  explicit CppSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace px::cpp
