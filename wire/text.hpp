#pragma once

#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

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

/// The parts of the text between the separators; one, which may be empty, where there is none.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The texts of the items, with the separator between each two of them: "0, 1, 3".
/// text_of  gives the text of an item, or a whole number that is spelled in decimal digits; without
///          it the items are texts or numbers themselves.
template <class Items, class TextOf = std::identity>
std::string join(const Items& items, std::string_view separator, const TextOf& text_of = {}) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += separator;
    if constexpr (std::is_integral_v<std::decay_t<std::invoke_result_t<TextOf, decltype(item)>>>)
      text += std::to_string(std::invoke(text_of, item));
    else
      text += std::invoke(text_of, item);
  }
  return text;
}

/// The text with a blank in place of each control character, so that it is one line and moves no
/// cursor: for texts of engines and clients that people see.
inline std::string without_controls(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  return text;
}

/// Two digits, 0 to 9 and a to f, for each byte.
inline std::string hex_digits(std::span<const unsigned char> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text(2 * bytes.size(), '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    text[2 * i] = digits[bytes[i] >> 4];
    text[2 * i + 1] = digits[bytes[i] & 15];
  }
  return text;
}

/// The text as HTML shows it: '&', '<' and '>' as entities.
inline std::string escape_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else
      html += c;
  }
  return html;
}

}  // namespace px
