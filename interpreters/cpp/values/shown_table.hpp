#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "interpreters/cpp/values/shown_text.hpp"

namespace px::cpp {

/// The display of a matrix: its first rows and columns, and its size if that is not all. One thread
/// owns it.
class ShownTable {
 public:
  static constexpr std::size_t most_rows = 30;
  static constexpr std::size_t most_columns = 20;

  ShownTable(std::size_t rows, std::size_t columns);
  /// The text of the next element, row by row, and its position; null: all shown elements are
  /// written.
  ShownText* next(std::size_t& row, std::size_t& column);
  /// In columns.
  std::string text() const;
  std::string html() const;

 private:
  std::string element(std::size_t row, std::size_t column) const;
  bool is_cut() const { return rows_ > shown_rows_ || columns_ > shown_columns_; }
  std::string size_text() const;

  std::size_t rows_, columns_, shown_rows_, shown_columns_;
  std::deque<ShownText> elements_;  // their addresses are stable
};

}  // namespace px::cpp
