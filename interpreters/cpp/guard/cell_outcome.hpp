#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace px::cpp {

/// One display in several forms: MIME type -> text (base64 if the form is binary).
using MimeBundle = std::map<std::string, std::string>;

/// A line of a cell; the first is 1.
struct CellLine {
  std::string cell;  ///< Its name: "cell 3".
  int line = 0;
  bool is_of_this_cell = true;  ///< Otherwise of an earlier one, which may have the same name.
  bool operator==(const CellLine&) const = default;
};

/// The outcome of one cell.
struct CellOutcome {
  enum class Ending {
    ok,
    compile_error,  ///< Nothing of it ran or was defined.
    exception,      ///< It ran up to the throw.
    interrupted,
    crashed,  ///< A signal such as SIGSEGV ended it: its objects may be damaged.
  };
  Ending kind = Ending::ok;
  // If it is not ok:
  std::string error_name = {};  ///< "CompileError", the exception's type ...
  std::string error_value = {};
  std::vector<std::string> traceback = {};
  /// The lines at which an exception or an interrupt was raised, and their callers, innermost
  /// first; empty if unknown.
  std::vector<CellLine> lines = {};
  /// The display of the value of its last expression.
  std::optional<MimeBundle> shown = {};

  bool is_ok() const { return kind == Ending::ok; }
};

}  // namespace px::cpp
