#pragma once

#include <deque>
#include <optional>
#include <string>

#include "wire/json.hpp"

namespace px::cpp {

/// The cells that ran, for history_request. Forgets the oldest ones.
class CellHistory {
 public:
  void add(int count, std::string code);
  /// The displayed value of the cell that was added last.
  void set_output(std::string text);

  /// The code of the cell with that number; nothing if unknown.
  std::optional<std::string> code_of(int count) const;

  /// request  the content of a history_request: hist_access_type tail (n), range (start, stop) or
  ///          search (pattern with * and ?, n, unique); output.
  /// Returns the list in the reply: [0, count, code], or [0, count, [code, output or null]].
  Json find(const Json& request) const;

  static constexpr std::size_t max_cells = 10000;

 private:
  struct Cell {
    int count = 0;
    std::string code;
    Json output;  ///< Text, or null.
  };
  std::deque<Cell> cells_;
};

}  // namespace px::cpp
