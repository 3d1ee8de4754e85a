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
/// What a failed cell would have defined is never defined; what earlier cells defined stays,
/// whatever happens. The main thread makes all calls; there is one session in a process.
class CppSession {
 public:
  using Options = CompilerOptions;

  /// errors  bad_input: flags or a prelude that clang refuses.
  static Result<std::unique_ptr<CppSession>> create(Options options);
  ~CppSession();
  CppSession(CppSession&&) = delete;

  /// What was not as asked when the session was created; "" where all was.
  const std::string& warning() const;

  /// Compiles `code` in a forked child, so that nothing is defined or changed here: ok,
  /// compile_error or interrupted. `name` stands in what the compiler says: "cell 3".
  CellOutcome check(const std::string& code, const std::string& name);
  /// check() (not again for code that was just checked), then compiles it here and runs it.
  CellOutcome run(const std::string& code, const std::string& name);
  /// Calls a compiled function under the guards under which cells run.
  CellOutcome call(const std::function<void()>& function);
  /// What the compiler warned about in the cell that was checked last.
  const std::string& warnings() const;

  /// errors  not_found: there is no such folder.
  Result<void> add_include_folder(const std::string& folder);
  /// Where load_library() looks for what has no path.
  void add_library_folder(const std::string& folder);
  /// A path, the file name of a library (libm.so.6), or its name alone (m).
  /// errors  not_found: the loader's own words.
  Result<void> load_library(const std::string& name);

  /// What may stand where the word at `cursor` (in bytes) stands; see suggestions_at().
  struct Completions {
    std::vector<Suggestion> suggestions = {};  ///< The most likely first, each text once.
    std::size_t begin = 0;                     ///< Where the word begins that they replace.
  };
  Completions complete(const std::string& code, std::size_t cursor);
  /// Declaration, documentation and place of what stands at `cursor`, or the functions that a call
  /// may mean whose parentheses the cursor is in; see help_at().
  std::optional<std::string> inspect(const std::string& code, std::size_t cursor);

  /// A macro that stands defined; none where it is built in.
  std::optional<MacroBody> macro(const std::string& name);
  /// The type of an expression, spelled; nothing where it does not compile.
  std::optional<std::string> type_of(const std::string& expression);
  /// Of a type that cells can name, "Colour::red"; "" where it is none, or has none of this value.
  std::string enumerator_of(const std::string& type, long long value);
  /// The names of the members of a class, in their order; none of what is not known.
  std::vector<std::string> members_of(const std::string& type);
  /// A variable, function, type, template or namespace, qualified or not.
  bool is_defined(const std::string& name);
  /// The variables that cells have defined and no later one has redefined, oldest first; without
  /// those of headers, and of namespaces.
  std::vector<std::string> variables();
  /// Another one for each definition of an unqualified global name; null where there is none.
  const void* identity(const std::string& name);
  /// Where a global variable, or function with a C name, lies in memory; null where it is unknown.
  void* address_of(const std::string& symbol);

  /// Asks the running cell to end. Loops see it; a second request while the first is not answered
  /// leaves the cell without its consent. From any thread and from signal handlers; other
  /// threads than the session's send SIGINT to it, so handle_interrupts() must have been called.
  static void interrupt();
  /// interrupt() on SIGINT.
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
