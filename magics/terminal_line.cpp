#include "magics/terminal_line.hpp"

#include <utility>

namespace px::magics {
namespace {

/// How many bytes of UTF-8 a character has that begins with this one.
std::size_t length_of(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, length_of(text[at]));
    characters.emplace_back(character);
    at += character.size();
  }
  return characters;
}

}  // namespace

std::vector<std::string> TerminalLine::add(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("\r\n"), text.size());
    if (plain > 0) {
      put(text.substr(0, plain));
      text.remove_prefix(plain);
      continue;
    }
    if (text.front() == '\n')
      end_line(lines);
    else
      has_return_ = true;
    text.remove_prefix(1);
  }
  return lines;
}

void TerminalLine::put(std::string_view text) {
  if (std::exchange(has_return_, false)) {
    if (!is_rewritten_) cells_ = characters_of(std::exchange(line_, {}));
    is_rewritten_ = true;
    column_ = 0;
  }
  if (!is_rewritten_) {
    line_ += text;
    return;
  }
  for (std::string& character : characters_of(text)) {
    if (column_ < cells_.size())
      cells_[column_] = std::move(character);
    else
      cells_.push_back(std::move(character));
    ++column_;
  }
}

void TerminalLine::end_line(std::vector<std::string>& lines) {
  has_return_ = false;  // "\r\n" ends a line as "\n" does
  lines.push_back(take());
}

std::string TerminalLine::text() const {
  if (!is_rewritten_) return line_;
  std::string text;
  for (const std::string& character : cells_) text += character;
  return text;
}

std::string TerminalLine::take() {
  std::string taken = text();
  line_.clear();
  cells_.clear();
  column_ = 0;
  is_rewritten_ = false;
  return taken;
}

}  // namespace px::magics
