#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace px::magics {

/// Cuts what a program prints into lines as a terminal shows them: what stands behind a carriage
/// return overwrites the line. Pure.
class TerminalLine {
 public:
  /// The lines that are complete now, without their ends.
  std::vector<std::string> add(std::string_view text);

  /// What stands on the line that is not complete.
  std::string text() const;
  bool is_empty() const { return line_.empty() && cells_.empty(); }
  /// Whether the program rewrites that line: it is to be shown in a place where it can.
  bool is_rewritten() const { return is_rewritten_; }
  /// That line, which begins anew.
  std::string take();

 private:
  void put(std::string_view text);
  void end_line(std::vector<std::string>& lines);
  std::string line_;                // while it is not rewritten
  std::vector<std::string> cells_;  // its characters, while it is
  std::size_t column_ = 0;
  bool is_rewritten_ = false;
  bool has_return_ = false;  // a carriage return came last
};

}  // namespace px::magics
