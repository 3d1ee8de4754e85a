#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "wire/error.hpp"

namespace px::cpp {

/// A cell as people write it for xeus-cpp, xeus-cling, cling or IPython, in our own words.
struct ForeignCell {
  enum class Action {
    run,           ///< The code is what there is.
    help,          ///< .help
    describe,      ///< ?name or name?
    write_file,    ///< %%file name, %%writefile name
    make_program,  ///< %%executable name
  };
  Action action = Action::run;
  std::vector<std::string> arguments = {};  ///< The name; flags behind the -- of %%executable.
  bool appends = false;                     ///< %%file -a

  /// What `#pragma cling`, .L and .I ask for.
  std::vector<CellDirective> directives = {};
  /// With as many lines as the cell; what is not C++ has become C++, a directive of ours or blanks.
  /// For write_file the text of the file.
  std::string code = {};
  std::vector<std::string> notes = {};  ///< What was not obeyed, a sentence each.
};

/// What begins with '!' is a command here; it may be an expression of C++ as well.
bool begins_with_command(std::string_view cell);

/// errors  bad_input: a command of cling that C++ cells do not have: says what to write instead.
Result<ForeignCell> read_foreign_cell(std::string_view cell);

/// Whether the whole cell is no C++, so that it needs no more lines.
bool is_foreign_as_a_whole(std::string_view cell);

/// What a cell may be, for .help.
std::string help_text();

}  // namespace px::cpp
