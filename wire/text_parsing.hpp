#pragma once

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace px {

/// The integer that the whole text represents in decimal digits, optionally after a minus sign.
/// Nothing if the text is empty, has other characters (including a plus sign or a blank), or the
/// type cannot hold the number. For options, file contents and JSON keys: unlike std::stoi() it
/// neither throws nor accepts trailing text.
template <class Number = int>
std::optional<Number> read_whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Removes the first line from the text and returns it without its newline. The last line may lack
/// the newline. An empty text yields an empty line, so callers check for that first.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// The text with a blank in place of each control character, so that it is one line and moves no
/// cursor: for texts of engines and clients that people see.
inline std::string without_controls(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

}  // namespace px
