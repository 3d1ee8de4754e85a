#include "interpreters/cpp/cells/code_mask.hpp"

#include <algorithm>
#include <cctype>

#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

constexpr std::string_view raw_prefixes[] = {"R", "u8R", "uR", "UR", "LR"};

class Masker {
 public:
  explicit Masker(std::string_view code) : code_(code) { masked_.text = code; }

  MaskedCode run() {
    while (at_ < code_.size()) step();
    return std::move(masked_);
  }

 private:
  char look(std::size_t ahead = 0) const {
    return at_ + ahead < code_.size() ? code_[at_ + ahead] : '\0';
  }
  bool looks_like(std::string_view text) const { return code_.substr(at_, text.size()) == text; }

  /// Replaces code up to `end`, but not its line ends.
  void blank(std::size_t end, char filler) {
    end = std::min(end, code_.size());
    for (; at_ < end; ++at_)
      if (code_[at_] != '\n') masked_.text[at_] = filler;
  }

  void step() {
    const char next = look();
    if (next == '\n') {
      is_line_start_ = true;
      ++at_;
    } else if (next == '#' && is_line_start_) {
      directive();
    } else if (looks_like("//")) {
      blank(end_of_line(), ' ');
    } else if (looks_like("/*")) {
      blank(end_of_comment(), ' ');
    } else if (std::isspace(static_cast<unsigned char>(next)) != 0) {
      ++at_;
    } else if (std::iscntrl(static_cast<unsigned char>(next)) != 0) {
      blank(at_ + 1, ' ');  // around what was inserted into a cell
    } else {
      is_line_start_ = false;
      token();
    }
  }

  void token() {
    const char next = look();
    if (next == '"' || next == '\'')
      literal(next);
    else if (is_digit(next) || (next == '.' && is_digit(look(1))))
      number();
    else if (is_word_start(next))
      word();
    else
      ++at_;
  }

  void word() {
    const std::size_t begin = at_;
    while (is_word_part(look())) ++at_;
    const std::string_view found = code_.substr(begin, at_ - begin);
    const bool is_raw = std::find(std::begin(raw_prefixes), std::end(raw_prefixes), found) !=
                        std::end(raw_prefixes);
    if (is_raw && look() == '"') raw_string();
  }

  /// As the preprocessor sees numbers: 1'000.5e-3_km is one.
  void number() {
    while (is_word_part(look()) || look() == '.' || (look() == '\'' && is_word_part(look(1))) ||
           ((look() == '+' || look() == '-') && at_ > 0 && is_exponent(code_[at_ - 1])))
      ++at_;
  }
  static bool is_exponent(char letter) {
    return letter == 'e' || letter == 'E' || letter == 'p' || letter == 'P';
  }

  /// Up to the closing quote, or the end of the line.
  void literal(char quote) {
    ++at_;
    std::size_t end = at_;
    while (end < code_.size() && code_[end] != quote && code_[end] != '\n')
      end += code_[end] == '\\' ? 2 : 1;
    blank(end, '_');
    if (look() == quote)
      ++at_;
    else
      masked_.has_open_literal = true;
  }

  void raw_string() {
    const std::size_t open = code_.find('(', at_);
    std::size_t end = std::string_view::npos;
    if (open != std::string_view::npos) {
      const std::string closing = ")" + std::string(code_.substr(at_ + 1, open - at_ - 1)) + "\"";
      end = code_.find(closing, open + 1);
      if (end != std::string_view::npos) end += closing.size() - 1;
    }
    ++at_;
    if (end == std::string_view::npos) masked_.is_open = true;
    blank(end, '_');
    if (at_ < code_.size()) ++at_;
  }

  /// Of a line that a backslash may continue.
  std::size_t end_of_line() {
    std::size_t end = at_;
    while (end < code_.size() && (code_[end] != '\n' || code_[end - 1] == '\\')) ++end;
    if (end == code_.size() && code_.back() == '\\') masked_.is_open = true;
    return end;
  }

  std::size_t end_of_comment() {
    const std::size_t end = code_.find("*/", at_ + 2);
    if (end == std::string_view::npos) masked_.is_open = true;
    return end == std::string_view::npos ? end : end + 2;
  }

  /// Its comments may be longer than its line.
  void directive() {
    const std::size_t line = end_of_line();
    const std::size_t comment = code_.substr(0, line).find("/*", at_);
    const std::size_t line_comment = code_.substr(0, line).find("//", at_);
    if (comment < line_comment) {
      blank(comment, '#');
      blank(end_of_comment(), ' ');
      blank(end_of_line(), '#');
    } else {
      blank(line, '#');
    }
  }

  std::string_view code_;
  MaskedCode masked_;
  std::size_t at_ = 0;
  bool is_line_start_ = true;
};

}  // namespace

MaskedCode mask_code(std::string_view code) {
  return Masker(code).run();
}

}  // namespace px::cpp
