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
  include_folder,  ///< %inc folder: a folder for #include, from here on
  library_folder,  ///< #pragma cling add_library_path("folder"): a folder for libraries
  library,         ///< %lib name or path: loaded now
  package,         ///< %pkg name: folders and libraries from pkg-config
  flags,           ///< %flags -O3 ...: for the compiler, before the first cell
  header,          ///< %pch <name>: precompiled once and kept, before the first cell
  time,            ///< %time: reports how long the cell ran
  timeit,          ///< %timeit: runs the cell many times and reports the time of one run
};

/// A line at the beginning of a cell for the interpreter instead of the compiler.
struct CellDirective {
  DirectiveKind kind;
  std::vector<std::string> arguments = {};  ///< Words; quotes hold them together. Not for time,
                                            ///< timeit.
  int line = 0;                             ///< The first line of a cell is 1.

  // For time and timeit; 0: enough for a good measurement.
  long long loops = 0;  ///< -n
  int repeats = 0;      ///< -r
};

/// A cell as its author wrote it, split into its parts.
struct CellText {
  std::vector<CellDirective> directives = {};
  /// C++, with as many lines as the cell. It includes the code after %time and %timeit.
  std::string code = {};

  /// The %time or %timeit of the cell; null if it has none.
  const CellDirective* timing() const;
};

/// Reads the directives. They precede all code; blank lines and comments may be between them.
/// errors  bad_input: an unknown directive, or one without its argument: the message names the
/// line.
Result<CellText> read_cell(std::string_view cell);

/// An error bad_input that names the line, the first of which is 1.
Error error_in_line(int line, const std::string& what);

/// The position of the last expression of the code, if it seems to end with one: no semicolon after
/// it, and not a definition. Only a compiler knows for sure. If the code ends with #endif each
/// branch may have one; this is the last of them.
/// find_macro  here and below: macros of earlier cells, which may hide the ends of statements.
struct CodeRange {
  std::size_t begin = 0, end = 0;  ///< In bytes, without surrounding blanks and comments.
};
std::optional<CodeRange> find_tail(std::string_view code, const FindMacro& find_macro = {});

/// The code, changed so that the value of its last expression is shown; nothing if it does not seem
/// to end with an expression. If this does not compile, statement_form() may.
std::optional<std::string> display_form(const std::string& code, const FindMacro& find_macro = {});

/// Like display_form(), for an expression to which no reference can be bound: a bit-field.
std::optional<std::string> copy_form(const std::string& code, const FindMacro& find_macro = {});

/// Whether this cell may change how later cells display values: it has an operator<< or a
/// mime_bundle_repr(), or specializes a template of the standard library.
bool says_how_values_look(const std::string& code);
/// One of these forms, changed so that the display of values is compiled again for each edition.
std::string in_edition(std::string form, unsigned edition);

/// The cell's code, changed so that px::display() and xcpp::display() in it display values in that
/// edition. Contains marks that the forms below resolve.
std::string displays_in_edition(const std::string& code, unsigned edition);
/// Whether the code includes a header that is not of the standard library: that may also change how
/// values are displayed.
bool includes_other_headers(const std::string& code);

/// The code with the semicolon that the last statement may lack.
std::string statement_form(const std::string& code, const FindMacro& find_macro = {});

/// The code, changed so that it is measured and the result printed (%time, %timeit). %time leaves
/// its definitions to later cells; %timeit runs the cell in a function, many times.
/// shows_tail  whether the last expression is shown (%time), or all results are kept from the
///             optimizer, so that it cannot remove the work (%timeit).
std::string timed_form(const std::string& code, const CellDirective& timing, bool shows_tail,
                       const FindMacro& find_macro = {});

/// Precedes each inserted text in these forms, which extends to the end of its line.
constexpr std::string_view insertion_mark = "/*px*/";

/// Whether it names a cell instead of a file: it has neither a slash nor a dot.
bool is_name_of_cell(std::string_view file);

/// Whether one of these forms put a function of that name around a statement.
bool is_wrapper(std::string_view function);

/// The texts to compile for the cell: the first one that compiles is used; if none does, the
/// diagnostics of the last one are shown to the user.
std::vector<std::string> forms_of(const CellText& cell, const FindMacro& find_macro = {});

/// Like forms_of(), with each statement in a separate function. clang 22 compiles a call of a
/// consteval function that is directly in a statement of a cell like a call of a function without
/// code.
std::vector<std::string> forms_in_functions(const CellText& cell, const FindMacro& find_macro = {});

/// The name that the last statement of the code defines as a function or a variable; nothing if it
/// defines neither.
std::optional<std::string> last_defined_name(std::string_view code);

/// The identifiers in the code, each once, in their order; including keywords.
std::vector<std::string> identifiers_of(std::string_view code);

}  // namespace px::cpp
