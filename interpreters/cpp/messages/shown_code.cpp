#include "interpreters/cpp/messages/shown_code.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/code_words.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"

namespace px::cpp {
namespace {

constexpr std::string_view gap = " | ";

/// The length of the colour that begins there; 0 where none does.
std::size_t colour_length(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) != "\x1b[") return 0;
  const std::size_t end = text.find('m', at);
  return end == text.npos ? 0 : end + 1 - at;
}

/// How much of the text takes up so many columns: bytes, the colours before its end included.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (const std::size_t length = colour_length(text, at); length > 0) {
      at += length;
      continue;
    }
    const bool is_start = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
    if (is_start && columns-- == 0) break;
    ++at;
  }
  return at;
}
std::size_t columns_of(std::string_view text) {
  const std::string plain = without_colours(std::string(text));
  return static_cast<std::size_t>(std::count_if(plain.begin(), plain.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// Without the colour that begins at its end: that of the mark, which is a comment.
std::string without_open_colour(std::string text) {
  const std::size_t last = text.rfind("\x1b[");
  if (last == text.npos || last + colour_length(text, last) != text.size()) return text;
  if (text.compare(last, text.npos, "\x1b[0m") != 0) text.resize(last);
  return text;
}

/// "   12 | code", or "      | ~~~^" below it.
struct CodeLine {
  std::string before;  ///< Colours, blanks.
  std::string number;  ///< "" below the code.
  std::string code;
};
std::optional<CodeLine> read_code_line(std::string_view line) {
  std::size_t at = 0;
  while (const std::size_t length = colour_length(line, at)) at += length;
  while (at < line.size() && line[at] == ' ') ++at;
  const std::size_t begin = at;
  while (at < line.size() && is_digit(line[at])) ++at;
  const bool has_number = at > begin;
  const std::string_view bar = has_number ? gap : gap.substr(1);
  if (line.substr(at, bar.size()) != bar) return std::nullopt;
  return CodeLine{std::string(line.substr(0, begin)), std::string(line.substr(begin, at - begin)),
                  std::string(line.substr(at + bar.size()))};
}

class Cleaner {
 public:
  void add(const std::string& line) {
    const auto read = read_code_line(line);
    if (!read)
      begin_text(line);
    else if (read->number.empty())
      add_below(*read, line);
    else
      add_code(*read);
  }
  std::string take() { return std::move(result_); }

 private:
  void begin_text(const std::string& line) {
    is_dropped_ = false;
    most_columns_.reset();
    next_number_.reset();
    put(line);
  }

  void add_code(const CodeLine& line) {
    most_columns_.reset();
    const std::string plain = without_colours(line.code);
    is_dropped_ = is_line_directive(plain);
    if (is_dropped_) return;
    std::string code = line.code;
    if (const std::size_t mark = plain.find(insertion_mark); mark != plain.npos) {
      most_columns_ = columns_of(plain.substr(0, mark));
      code = without_open_colour(code.substr(0, bytes_of_columns(code, *most_columns_)));
      is_dropped_ = trim(without_colours(code)).empty();
    }
    std::string number = line.number;
    if (next_number_) number = std::to_string((*next_number_)++);
    if (is_dropped_) return;
    const std::size_t width = std::max(line.number.size(), number.size());
    put(line.before + std::string(width - number.size(), ' ') + number + std::string(gap) + code);
  }

  /// Carets may point to what stands behind the code, but mark nothing of it.
  void add_below(const CodeLine& line, const std::string& text) {
    if (is_dropped_) return;
    if (!most_columns_ || columns_of(line.code) <= *most_columns_) return put(text);
    const std::size_t end = bytes_of_columns(line.code, *most_columns_);
    const bool has_caret = line.code.find('^', end) != line.code.npos;
    put(line.before + std::string(gap.substr(1)) + line.code.substr(0, end) +
        (has_caret ? "^" : ""));
  }

  bool is_line_directive(std::string_view code) {
    constexpr std::string_view word = "#line ";
    if (!code.starts_with(word)) return false;
    long number = 0;
    std::from_chars(code.data() + word.size(), code.data() + code.size(), number);
    next_number_ = number;
    return true;
  }

  void put(const std::string& line) { result_ += line + "\n"; }

  std::string result_;
  bool is_dropped_ = false;
  std::optional<std::size_t> most_columns_;
  std::optional<long> next_number_;
};

}  // namespace

std::string without_insertions(const std::string& text) {
  Cleaner cleaner;
  for (const std::string& line : lines_of(text)) cleaner.add(line);
  return cleaner.take();
}

}  // namespace px::cpp
