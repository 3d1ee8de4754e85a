#include "interpreters/cpp/cells/macro_text.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_statements.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

constexpr std::size_t longest_expansion = 64 << 10;  // of one expansion
constexpr int most_levels = 16;               // of macros in macros

std::size_t end_of_word(std::string_view text, std::size_t begin) {
  while (begin < text.size() && is_word_part(text[begin])) ++begin;
  return begin;
}

/// As masked code; what looks like a directive in it is none.
std::string masked_body(const std::string& text) {
  std::string masked = mask_code("x " + text).text.substr(2);
  std::replace_if(
      masked.begin(), masked.end(), [](char letter) { return letter == '#' || is_blank(letter); },
      ' ');
  const std::size_t end = masked.find_last_not_of(' ');
  masked.erase(end == std::string::npos ? 0 : end + 1);
  return masked.erase(0, std::min(masked.find_first_not_of(' '), masked.size()));
}

/// Whether statements end in it, or brackets do not match.
bool matters(std::string_view masked) {
  if (masked.find_first_of(";{}") != std::string_view::npos) return true;
  std::string open;
  for (const char letter : masked) {
    if (letter == '(' || letter == '[') open += letter == '(' ? ')' : ']';
    if (letter != ')' && letter != ']') continue;
    if (open.empty() || open.back() != letter) return true;
    open.pop_back();
  }
  return !open.empty();
}

class Expander {
 public:
  Expander(std::string_view code, const FindMacro& find_macro)
      : code_(code), masked_(mask_code(code).text), find_macro_(find_macro) {}

  ExpandedCode run() {
    while (at_ < masked_.size()) {
      if (masked_[at_] == '#' && is_line_start())
        directive();
      else if (is_digit(masked_[at_]))
        copy(number_end());
      else if (is_word_start(masked_[at_]))
        word();
      else
        copy(at_ + 1);
    }
    return std::move(made_);
  }

 private:
  bool is_line_start() const {
    const std::size_t before =
        at_ == 0 ? std::string::npos : masked_.find_last_not_of(" \t", at_ - 1);
    return before == std::string::npos || masked_[before] == '\n';
  }
  std::size_t number_end() const { return end_of_word(masked_, at_); }

  void copy(std::size_t end) {
    made_.text += masked_.substr(at_, end - at_);
    at_ = end;
  }

  void directive() {
    std::size_t end = at_;
    while (end < masked_.size() && (masked_[end] != '\n' || code_[end - 1] == '\\')) ++end;
    define(code_.substr(at_, end - at_));
    copy(end);
  }

  /// Of "#define NAME(a, b) text".
  void define(std::string_view line) {
    std::string text(line.substr(1));
    for (std::size_t at; (at = text.find("\\\n")) != std::string::npos;) text.replace(at, 2, "  ");
    std::size_t at = text.find_first_not_of(" \t");
    if (at == std::string::npos) return;
    const std::size_t end = end_of_word(text, at);
    const std::string what = text.substr(at, end - at);
    at = text.find_first_not_of(" \t", end);
    if (at == std::string::npos) return;
    const std::size_t name_end = end_of_word(text, at);
    const std::string name = text.substr(at, name_end - at);
    if (what == "undef") own_[name] = std::nullopt;
    if (what != "define") return;
    MacroBody body;
    body.takes_arguments = name_end < text.size() && text[name_end] == '(';
    std::size_t begin = name_end;
    if (body.takes_arguments) begin = std::min(text.find(')', name_end), text.size() - 1) + 1;
    body.text = text.substr(begin);
    own_[name] = std::move(body);
  }

  std::optional<MacroBody> find(const std::string& name) const {
    const auto own = own_.find(name);
    if (own != own_.end()) return own->second;
    return find_macro_ ? find_macro_(name) : std::nullopt;
  }

  /// Where the use of a macro ends that begins with the word; nothing where it is none.
  static std::optional<std::size_t> end_of_use(const MacroBody& body, std::string_view text,
                                               std::size_t word_end) {
    if (!body.takes_arguments) return word_end;
    std::size_t open = word_end;
    while (open < text.size() && is_blank(text[open])) ++open;
    if (open >= text.size() || text[open] != '(') return std::nullopt;
    const std::size_t closing = find_closing(text, open);
    if (closing == std::string_view::npos) return std::nullopt;
    return closing + 1;
  }

  /// The text with the macros in it expanded.
  std::string expanded(const std::string& text, std::set<std::string>& inside) const {
    std::string result;
    for (std::size_t at = 0; at < text.size() && result.size() < longest_expansion;) {
      std::size_t end = is_word_part(text[at]) ? end_of_word(text, at) : at + 1;
      const std::string word = text.substr(at, end - at);
      const bool is_name = is_word_start(word[0]) && inside.count(word) == 0;
      const auto body = is_name ? find(word) : std::nullopt;
      const auto use_end = body ? end_of_use(*body, text, end) : std::nullopt;
      if (use_end && inside.size() < most_levels) {
        inside.insert(word);
        result += expanded(masked_body(body->text), inside);
        inside.erase(word);
        end = *use_end;
      } else {
        result += word;
      }
      at = end;
    }
    return result;
  }

  void word() {
    const std::size_t word_end = end_of_word(masked_, at_);
    const std::string name = masked_.substr(at_, word_end - at_);
    const auto body = find(name);
    const auto end = body ? end_of_use(*body, masked_, word_end) : std::nullopt;
    if (!end) return copy(word_end);
    std::set<std::string> inside{name};
    const std::string text = expanded(masked_body(body->text), inside);
    if (!matters(text) || text.size() >= longest_expansion) return copy(word_end);
    const std::size_t begin = made_.text.size();
    made_.text += text;
    made_.expansions.push_back({begin, made_.text.size(), at_, *end});
    at_ = *end;
  }

  std::string_view code_;
  std::string masked_;
  const FindMacro& find_macro_;
  std::map<std::string, std::optional<MacroBody>> own_;
  ExpandedCode made_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t ExpandedCode::to_code(std::size_t place) const {
  for (auto each = expansions.rbegin(); each != expansions.rend(); ++each)
    if (each->end <= place) return each->code_end + (place - each->end);
  return place;
}

std::optional<std::size_t> ExpandedCode::begin_in_code(std::size_t begin) const {
  for (const Expansion& each : expansions) {
    if (begin == each.begin) return each.code_begin;
    if (begin > each.begin && begin < each.end) return std::nullopt;
  }
  return to_code(begin);
}

std::optional<std::size_t> ExpandedCode::end_in_code(std::size_t end) const {
  for (const Expansion& each : expansions) {
    if (end == each.end) return each.code_end;
    if (end > each.begin && end < each.end) return std::nullopt;
  }
  return to_code(end);
}

ExpandedCode expand_macros(std::string_view code, const FindMacro& find_macro) {
  return Expander(code, find_macro).run();
}

}  // namespace px::cpp
