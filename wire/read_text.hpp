#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace px {

/// The number that a text is in decimal digits, maybe after a minus sign; nothing where it is
/// something else, holds more than the number, or does not fit.
template <class Number = int>
std::optional<Number> read_whole_number(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Takes the first line off a text, without its end.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

}  // namespace px
