#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/macro_text.hpp"
#include "wire/error.hpp"

namespace px::cpp {

enum class DirectiveKind {
  include_folder,  ///< %inc folder: where #include looks, from here on
  library_folder,  ///< #pragma cling add_library_path("folder"): where libraries are looked for
  library,         ///< %lib name or path: loaded now
  package,         ///< %pkg name: folders and libraries as pkg-config knows them
  flags,           ///< %flags -O3 ...: for the compiler, before the first cell
  header,          ///< %pch <name>: precompiled once and kept, before the first cell
  time,            ///< %time: says how long the cell ran
  timeit,          ///< %timeit: runs the cell many times and says how long one run takes
};

/// A line at the head of a cell that speaks to the interpreter and not to the compiler.
struct CellDirective {
  DirectiveKind kind;
  std::vector<std::string> arguments = {};  ///< Words; quotes keep blanks. Not for time, timeit.
  int line = 0;                             ///< The first line of a cell is 1.

  // time and timeit; 0: as many as make a good measurement.
  long long loops = 0;  ///< -n
  int repeats = 0;      ///< -r
};

/// A cell as its author wrote it, taken apart.
struct CellText {
  std::vector<CellDirective> directives = {};
  /// C++, with as many lines as the cell. What stands behind %time and %timeit is part of it.
  std::string code = {};

  /// The %time or %timeit of the cell; null where it has none.
  const CellDirective* timing() const;
};

/// Reads the directives. They stand before all code; blank lines and comments may be between them.
/// errors  bad_input: an unknown directive, or one without its argument: names the line.
Result<CellText> read_cell(std::string_view cell);

/// bad_input that names the line, the first of which is 1.
Error error_in_line(int line, const std::string& what);

/// Where the last expression of the code stands, if it seems to end in one: no semicolon behind
/// it, and no definition. Only a compiler knows for sure. Where the code ends with #endif each
/// branch may have one; this is the last of them.
/// find_macro  here and below: macros of earlier cells, which may hide where statements end.
struct CodeRange {
  std::size_t begin = 0, end = 0;  ///< In bytes, without blanks and comments around it.
};
std::optional<CodeRange> find_tail(std::string_view code, const FindMacro& find_macro = {});

/// The code, changed so that the value of its last expression is shown; nothing where it does not
/// seem to end in an expression. Where this does not compile, statement_form() may.
std::optional<std::string> display_form(const std::string& code, const FindMacro& find_macro = {});

/// The same for an expression that no reference can be bound to: a bit-field.
std::optional<std::string> copy_form(const std::string& code, const FindMacro& find_macro = {});

/// Whether cells may look at values in another way after this one: it has an operator<< or a
/// mime_bundle_repr(), or specializes a template of the standard library.
bool says_how_values_look(const std::string& code);
/// One of these forms, compiled so that the value is looked at anew for each edition.
std::string in_edition(std::string form, unsigned edition);

/// The cell's code, so that px::display() and xcpp::display() in it look at values in that
/// edition. Has marks that the forms below resolve.
std::string displays_in_edition(const std::string& code, unsigned edition);
/// Whether the code includes a header that is not of the standard library: it may say, too, how
/// values look.
bool includes_other_headers(const std::string& code);

/// The code with the semicolon that the last statement may lack.
std::string statement_form(const std::string& code, const FindMacro& find_macro = {});

/// The code, changed so that it is measured and the result printed (%time, %timeit). %time leaves
/// its definitions to later cells; %timeit runs the cell in a function, many times.
/// shows_tail  Whether the last expression is shown (%time), or all results are kept from the
///             optimizer, so that it cannot leave the work out (%timeit).
std::string timed_form(const std::string& code, const CellDirective& timing, bool shows_tail,
                       const FindMacro& find_macro = {});

/// Stands in these forms before each text that is no part of the cell. It ends with its line.
constexpr std::string_view insertion_mark = "/*px*/";

/// Whether it names a cell, not a file: it has neither a slash nor a dot.
bool is_name_of_cell(std::string_view file);

/// Whether a function of that name was put around a statement by one of these forms.
bool is_wrapper(std::string_view function);

/// What to compile of the cell: the first of these texts that compiles; where none does, the
/// diagnostics of the last one are those for the user.
std::vector<std::string> forms_of(const CellText& cell, const FindMacro& find_macro = {});

/// The same with each statement in a function of its own. clang 22 compiles a call of a consteval
/// function that stands directly in a statement of a cell as one of a function that has no code.
std::vector<std::string> forms_in_functions(const CellText& cell, const FindMacro& find_macro = {});

/// The name that the last statement of the code defines as a function, or as a variable; nothing
/// where it defines neither.
std::optional<std::string> last_defined_name(std::string_view code);

/// The identifiers in the code, each once, in their order; keywords too.
std::vector<std::string> identifiers_of(std::string_view code);

}  // namespace px::cpp
