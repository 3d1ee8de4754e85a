#include "interpreters/cpp/values/shown_table.hpp"

#include <algorithm>
#include <vector>

#include "wire/text.hpp"

namespace px::cpp {
namespace {

/// How many columns of a terminal it takes, as nearly as code points tell.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char each) {
    return (static_cast<unsigned char>(each) & 0xC0) != 0x80;
  }));
}

}  // namespace

ShownTable::ShownTable(std::size_t rows, std::size_t columns)
    : rows_(rows),
      columns_(columns),
      shown_rows_(std::min(rows, most_rows)),
      shown_columns_(std::min(columns, most_columns)) {}

ShownText* ShownTable::next(std::size_t& row, std::size_t& column) {
  if (elements_.size() == shown_rows_ * shown_columns_) return nullptr;
  row = elements_.size() / shown_columns_;
  column = elements_.size() % shown_columns_;
  return &elements_.emplace_back();
}

std::string ShownTable::element(std::size_t row, std::size_t column) const {
  const std::size_t index = row * shown_columns_ + column;
  return index < elements_.size() ? elements_[index].text() : std::string();
}

std::string ShownTable::size_text() const {
  return "(" + std::to_string(rows_) + " x " + std::to_string(columns_) + ")";
}

std::string ShownTable::text() const {
  if (elements_.empty()) return size_text();
  std::vector<std::size_t> widths(shown_columns_, 0);
  for (std::size_t row = 0; row < shown_rows_; ++row)
    for (std::size_t column = 0; column < shown_columns_; ++column)
      widths[column] = std::max(widths[column], width_of(element(row, column)));
  std::string text;
  for (std::size_t row = 0; row < shown_rows_; ++row) {
    if (row > 0) text += '\n';
    for (std::size_t column = 0; column < shown_columns_; ++column) {
      const std::string each = element(row, column);
      if (column > 0) text += "  ";
      text += std::string(widths[column] - width_of(each), ' ') + each;
    }
    if (columns_ > shown_columns_) text += "  ...";
  }
  if (rows_ > shown_rows_) text += "\n...";
  return is_cut() ? text + "\n" + size_text() : text;
}

std::string ShownTable::html() const {
  std::string html = "<table>";
  for (std::size_t row = 0; row < shown_rows_; ++row) {
    html += "<tr>";
    for (std::size_t column = 0; column < shown_columns_; ++column)
      html += "<td style=\"text-align:right\">" + escape_html(element(row, column)) + "</td>";
    html += columns_ > shown_columns_ ? "<td>...</td></tr>" : "</tr>";
  }
  if (rows_ > shown_rows_) html += "<tr><td>...</td></tr>";
  html += "</table>";
  return is_cut() || elements_.empty() ? html + size_text() : html;
}

}  // namespace px::cpp
