#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "magics/cell_output.hpp"

namespace px::magics {

/// How large a terminal is, in characters.
struct TerminalSize {
  std::size_t columns = 80, rows = 24;
};

/// Keeps the progress of a cell in the last lines of a terminal, below all other text. Gives what
/// is to be written for that, with control sequences; writes nothing itself. Pure.
class TerminalProgress {
 public:
  /// Replaces what is shown. Lines are cut to the width; where there are too many for the screen
  /// the last ones are shown.
  std::string show(const ShowProgress& progress, TerminalSize size);
  /// To be written before other text: takes the progress away for a moment.
  std::string before_text();
  /// To be written after it.  ends_line  whether the text ended its last line; the progress is not
  /// shown again before one does.
  std::string after_text(bool ends_line);

 private:
  std::string erase();
  std::string draw();

  std::vector<std::string> lines_;  // cut
  std::size_t drawn_ = 0;           // lines on the screen
  bool is_mid_line_ = false;        // other text has not ended its line
};

}  // namespace px::magics
