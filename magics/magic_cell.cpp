#include "magics/magic_cell.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "wire/text.hpp"

namespace px::magics {
namespace {

constexpr std::array<std::string_view, 2> cell_magics{"px", "cpp"};
constexpr std::array<std::string_view, 15> line_magics{
    "px",      "autopx",       "pxresult",  "result",   "pxconfig",
    "pxpush",  "pxpull",       "pxscatter", "pxgather", "pxcluster",
    "pxwhere", "pxcheckpoint", "pxrestore", "pxstacks", "pxtop"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view stripped(std::string_view text) {
  const auto is_blank = [](unsigned char c) { return std::isspace(c) != 0; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// The magic of a line that begins with `marks`.
std::optional<MagicCall> read_magic(std::string_view line, std::string_view marks) {
  line = stripped(line);
  if (!line.starts_with(marks) || line.substr(marks.size()).starts_with('%')) return std::nullopt;
  line.remove_prefix(marks.size());
  const std::size_t end =
      std::find_if(line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; }) -
      line.begin();
  return MagicCall{std::string(line.substr(0, end)),
                   std::string(stripped(line.substr(end))),
                   {},
                   marks.size() == 2};
}

}  // namespace

MagicCell split_cell(std::string_view cell) {
  MagicCell split;
  std::string_view rest = cell;
  std::string blank_lines;
  while (!rest.empty()) {
    std::string_view behind = rest;
    const std::string_view line = take_line(behind);
    if (!stripped(line).empty()) {
      std::optional<MagicCall> call;
      if (split.calls.empty()) call = read_magic(line, "%%");
      if (call && contains(cell_magics, call->name)) {
        call->cell = behind;
        split.calls.push_back(std::move(*call));
        return split;
      }
      call = read_magic(line, "%");
      if (!call || !contains(line_magics, call->name)) break;
      split.calls.push_back(std::move(*call));
    }
    blank_lines += '\n';
    rest = behind;
  }
  if (!stripped(rest).empty()) split.code = blank_lines + std::string(rest);
  return split;
}

}  // namespace px::magics
