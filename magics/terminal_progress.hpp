#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "magics/cell_output.hpp"

namespace px::magics {

/// The size of a terminal, in characters.
struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};

/// Keeps the progress of a cell in the last lines of a terminal, below all other text. Returns the
/// text to write, with control sequences; writes nothing itself. Pure.
class TerminalProgress {
 public:
  /// Replaces the shown progress. Lines are cut to the width; if there are too many for the screen
  /// the last ones are shown.
  std::string show(const ShowProgress& progress, TerminalSize size);
  /// The text to write before other text: removes the progress for a moment.
  std::string before_text();
  /// The text to write after it.  ends_line  whether the text ended its last line; until it does
  /// the progress is not shown again.
  std::string after_text(bool ends_line);

 private:
  std::string erase();
  std::string draw();

  std::vector<std::string> lines_;  // cut
  std::size_t drawn_ = 0;           // lines on the screen
  bool is_mid_line_ = false;        // other text has not ended its line
};

}  // namespace px::magics
