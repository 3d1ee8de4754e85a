#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "wire/error.hpp"

namespace px::cpp {

/// A cell written for xeus-cpp, xeus-cling, cling or IPython, translated for this kernel.
struct ForeignCell {
  enum class Action {
    run,           ///< There is only code.
    help,          ///< .help
    describe,      ///< ?name or name?
    write_file,    ///< %%file name, %%writefile name
    make_program,  ///< %%executable name
  };
  Action action = Action::run;
  std::vector<std::string> arguments = {};  ///< The name; flags after the -- of %%executable.
  bool appends = false;                     ///< %%file -a

  /// The directives from `#pragma cling`, .L and .I.
  std::vector<CellDirective> directives = {};
  /// With as many lines as the cell; parts that are not C++ have become C++, a directive or blanks.
  /// For write_file the text of the file.
  std::string code = {};
  std::vector<std::string> notes = {};  ///< The ignored parts, a sentence each.
};

/// Whether it begins with '!' for a command; it could also be a C++ expression.
bool begins_with_command(std::string_view cell);

/// errors  bad_input: a command of cling that C++ cells do not have: the message names the
///         replacement.
Result<ForeignCell> read_foreign_cell(std::string_view cell);

/// Whether the whole cell is not C++, so that it needs no more lines.
bool is_foreign_as_a_whole(std::string_view cell);

/// The kinds of cells, for .help.
std::string help_text();

}  // namespace px::cpp
