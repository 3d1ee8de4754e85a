#include "interpreters/cpp/cells/code_statements.hpp"

#include <cctype>
#include <set>
#include <string>

#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

using Words = std::set<std::string_view>;

/// Up to their semicolon, whatever braces are in between.
const Words declaring_words{"struct",        "class",   "union",  "enum",   "using",  "typedef",
                            "static_assert", "concept", "return", "goto",   "break",  "continue",
                            "case",          "default", "export", "import", "friend", "asm"};
/// No expression begins with them.
const Words specifiers{"const",  "constexpr", "consteval",    "constinit", "static",  "inline",
                       "extern", "volatile",  "thread_local", "virtual",   "register"};
/// An expression may begin with them where a bracket follows: int(x).
const Words type_words{"void",    "bool",   "char", "char8_t", "char16_t", "char32_t",
                       "wchar_t", "short",  "int",  "long",    "signed",   "unsigned",
                       "float",   "double", "auto", "decltype"};
/// They may stand between a function's parameters and its body.
const Words function_suffixes{"const", "volatile", "noexcept", "override", "final", "try"};

/// What was read of a statement that begins with no keyword.
struct Reading {
  bool has_equals = false;
  bool has_arrow = false;         // of a trailing return type
  bool has_initializers = false;  // of a constructor
  bool has_requires = false;
  bool has_question = false;
  bool awaits_lambda_body = false;
  std::string_view first_word, last_word;
  std::string_view called;            // the word before the last parenthesis
  char last = '\0';                   // the last character; 'w' for a word
  bool is_after_parenthesis = false;  // but for words such as const
};

class Splitter {
 public:
  explicit Splitter(std::string_view code) : code_(code) {}

  std::vector<CodeStatement> run() {
    std::vector<CodeStatement> statements;
    for (skip_blanks(); at_ < code_.size(); skip_blanks()) statements.push_back(statement());
    return statements;
  }

 private:
  char look(std::size_t ahead = 0) const {
    return at_ + ahead < code_.size() ? code_[at_ + ahead] : '\0';
  }
  void skip_blanks() {
    while (at_ < code_.size() && std::isspace(static_cast<unsigned char>(code_[at_])) != 0) ++at_;
  }
  std::string_view peek_word() {
    skip_blanks();
    std::size_t end = at_;
    if (is_word_start(look()))
      while (end < code_.size() && is_word_part(code_[end])) ++end;
    return code_.substr(at_, end - at_);
  }
  bool take_word(std::string_view word) {
    if (peek_word() != word) return false;
    at_ += word.size();
    return true;
  }
  /// Passes a bracket and what is in it; an open one ends the code.
  void take_group() {
    const std::size_t closing = find_closing(code_, at_);
    is_open_ = is_open_ || closing == std::string_view::npos;
    at_ = closing == std::string_view::npos ? code_.size() : closing + 1;
  }
  bool take_group_at(char bracket) {
    skip_blanks();
    if (look() != bracket) return false;
    take_group();
    return true;
  }

  CodeStatement statement() {
    skip_blanks();
    CodeStatement made;
    made.begin = at_;
    is_open_ = false;
    parse(made);
    made.end = at_;
    made.is_open = is_open_;
    return made;
  }

  void parse(CodeStatement& made) {
    if (look() == '#') return directive(made);
    const std::string_view word = peek_word();
    if (look() == '{') {
      made.kind = StatementKind::block;
      take_group();
      made.is_ended = true;
    } else if (word == "template") {
      templated(made);
    } else if (word == "namespace" || (word == "inline" && is_inline_namespace())) {
      space(made);
    } else if (word == "extern" && is_linkage()) {
      space(made);
    } else if (!control(made, word)) {
      general(made, word);
    }
  }

  void directive(CodeStatement& made) {
    made.kind = StatementKind::directive;
    made.is_ended = true;
    while (look() == '#' || look() == '\n') ++at_;
  }

  void templated(CodeStatement& made) {
    take_word("template");
    skip_blanks();
    if (look() == '<') skip_angles();
    parse(made);
    if (made.kind == StatementKind::other) made.kind = StatementKind::declaration;
  }

  void skip_angles() {
    int depth = 0;
    while (at_ < code_.size()) {
      const char next = look();
      if (next == '(' || next == '[' || next == '{') {
        take_group();
        continue;
      }
      depth += next == '<' ? 1 : next == '>' ? -1 : 0;
      ++at_;
      if (depth == 0) return;
    }
    is_open_ = true;
  }

  bool is_inline_namespace() {
    const std::size_t begin = at_;
    take_word("inline");
    const bool is = peek_word() == "namespace";
    at_ = begin;
    return is;
  }
  bool is_linkage() {
    const std::size_t begin = at_;
    take_word("extern");
    skip_blanks();
    bool is = look() == '"';
    if (is) {
      at_ = code_.find('"', at_ + 1);
      at_ = at_ == std::string_view::npos ? code_.size() : at_ + 1;
      skip_blanks();
      is = look() == '{';
    }
    at_ = begin;
    return is;
  }
  void space(CodeStatement& made) {
    while (at_ < code_.size() && look() != '{' && look() != ';') ++at_;
    made.is_ended = at_ < code_.size();
    made.kind = look() == '{' ? StatementKind::block : StatementKind::declaration;
    if (look() == '{')
      take_group();
    else if (look() == ';')
      ++at_;
  }

  /// The statements with a body. False where it is none.
  bool control(CodeStatement& made, std::string_view word) {
    if (word == "if" || word == "for" || word == "while" || word == "switch") {
      take_word(word);
      if (word == "if") take_word("constexpr");
      take_group_at('(');
      body(made);
      if (word == "if" && take_word("else")) body(made);
    } else if (word == "do") {
      take_word(word);
      body(made);
      take_word("while");
      take_group_at('(');
      skip_blanks();
      made.is_ended = look() == ';';
      if (made.is_ended) ++at_;
    } else if (word == "try") {
      take_word(word);
      made.is_ended = take_group_at('{');
      while (take_word("catch")) {
        take_group_at('(');
        made.is_ended = take_group_at('{');
      }
    } else {
      return false;
    }
    made.kind = StatementKind::block;
    made.name = {};
    return true;
  }

  void body(CodeStatement& made) {
    skip_blanks();
    CodeStatement inner;
    if (at_ < code_.size()) parse(inner);
    made.is_ended = inner.is_ended;
  }

  void general(CodeStatement& made, std::string_view word) {
    if (declaring_words.count(word) != 0 || specifiers.count(word) != 0)
      made.kind = StatementKind::declaration;
    const bool ends_at_semicolon = declaring_words.count(word) != 0;
    Reading reading;
    while (at_ < code_.size()) {
      skip_blanks();
      const char next = look();
      if (next == '\0' || next == '#') break;  // a directive ends what is in front of it
      if (next == ';') {
        made.is_ended = true;
        ++at_;
        break;
      }
      if (next == '{' && !ends_at_semicolon && is_body(reading)) {
        made.kind = StatementKind::function;
        made.is_ended = true;
        take_group();
        take_handlers(reading);
        break;
      }
      read(reading, made);
    }
    if (made.kind == StatementKind::other && is_plain_declaration(made))
      made.kind = StatementKind::declaration;
  }

  /// Of a function that is one try.
  void take_handlers(const Reading& reading) {
    if (reading.last_word != "try") return;
    while (take_word("catch")) {
      take_group_at('(');
      take_group_at('{');
    }
  }

  /// Whether a '{' that comes now begins the body of a function.
  static bool is_body(const Reading& reading) {
    if (reading.awaits_lambda_body || reading.has_equals) return false;
    if (reading.has_initializers) return reading.last == ')' || reading.last == '}';
    if (reading.has_arrow)
      return reading.first_word == "auto" || specifiers.count(reading.first_word) != 0;
    if (reading.has_requires) return true;
    return reading.is_after_parenthesis && reading.called != "decltype";
  }

  void read(Reading& reading, CodeStatement& made) {
    const char next = look();
    if (is_word_start(next)) return read_word(reading, made);
    if (next == '(') {
      if (made.name.empty() && !reading.has_equals && reading.last == 'w')
        made.name = reading.last_word;
      reading.called = reading.last == 'w' ? reading.last_word : std::string_view();
      take_group();
      reading.last = ')';
      reading.is_after_parenthesis = true;
      return;
    }
    if (next == '[') return read_square(reading);
    if (next == '{') {
      if (made.name.empty() && reading.last == 'w' && !reading.has_equals)
        made.name = reading.last_word;
      reading.awaits_lambda_body = false;
      take_group();
      reading.last = '}';
      reading.is_after_parenthesis = false;
      return;
    }
    if (next == '"' || next == '\'') {
      const std::size_t end = code_.find(next, at_ + 1);
      at_ = end == std::string_view::npos ? code_.size() : end + 1;
    } else if (is_digit(next)) {
      while (is_word_part(look()) || look() == '.' || look() == '\'') ++at_;
    } else {
      return read_sign(reading, made);
    }
    reading.last = '0';  // a literal
    reading.is_after_parenthesis = false;
  }

  void read_word(Reading& reading, CodeStatement& made) {
    const std::string_view word = peek_word();
    at_ += word.size();
    if (reading.first_word.empty() && reading.last == '\0') reading.first_word = word;
    if (word == "requires") {
      reading.has_requires = !reading.awaits_lambda_body && !reading.has_equals;
      if (take_word("requires")) {  // the braces of a requirement are no body
        take_group_at('(');
        take_group_at('{');
      }
    }
    if (word == "operator") {
      made.name = word;
      while (at_ < code_.size() && look() != '(') ++at_;
      if (look() == '(' && look(1) == ')') at_ += 2;
    }
    reading.last = 'w';
    reading.last_word = word;
    if (function_suffixes.count(word) == 0) reading.is_after_parenthesis = false;
  }

  void read_square(Reading& reading) {
    const bool is_attribute = look(1) == '[';
    const bool is_index = reading.last == 'w' || reading.last == ')' || reading.last == ']' ||
                          reading.last == '}' || reading.last == '0';
    const bool follows_return = reading.last == 'w' && reading.last_word == "return";
    if (!is_attribute && (!is_index || follows_return)) reading.awaits_lambda_body = true;
    take_group();
    if (is_attribute && reading.last == '\0') return;  // it leaves the first word to come
    reading.last = ']';
    reading.is_after_parenthesis = false;
  }

  void read_sign(Reading& reading, CodeStatement& made) {
    const char next = look();
    if (next == '-' && look(1) == '>') {
      reading.has_arrow =
          reading.has_arrow || (reading.is_after_parenthesis && !reading.awaits_lambda_body);
      at_ += 2;
    } else if (next == ':' && look(1) == ':') {
      at_ += 2;
      reading.last = ':';
      return;
    } else {
      if (next == ':' && reading.is_after_parenthesis && !reading.has_question)
        reading.has_initializers = true;
      if (next == '?') reading.has_question = true;
      if (next == '=' && look(1) != '=' && !is_comparison(reading.last)) {
        if (!reading.has_equals && reading.last == 'w') made.name = reading.last_word;
        reading.has_equals = true;
      }
      at_ += next == '=' && look(1) == '=' ? 2 : 1;
    }
    const bool is_reference = next == '&' && reading.is_after_parenthesis;
    if (!is_reference) reading.is_after_parenthesis = false;
    reading.last = next;
  }
  static bool is_comparison(char last) {
    return last == '=' || last == '<' || last == '>' || last == '!';
  }

  /// int x, but neither int(x) nor int{x}.
  bool is_plain_declaration(const CodeStatement& made) {
    const std::size_t end = at_;
    at_ = made.begin;
    bool is = false;
    while (type_words.count(peek_word()) != 0) {
      at_ += peek_word().size();
      skip_blanks();
      is = look() != '(' && look() != '{';
      if (look() == '(') break;
    }
    at_ = end;
    return is;
  }

  std::string_view code_;
  std::size_t at_ = 0;
  bool is_open_ = false;
};

}  // namespace

std::size_t find_closing(std::string_view masked, std::size_t open) {
  std::string expected;
  for (std::size_t at = open; at < masked.size(); ++at) {
    switch (masked[at]) {
      case '(':
        expected += ')';
        break;
      case '[':
        expected += ']';
        break;
      case '{':
        expected += '}';
        break;
      case ')':
      case ']':
      case '}':
        if (expected.empty() || expected.back() != masked[at]) return std::string_view::npos;
        expected.pop_back();
        if (expected.empty()) return at;
        break;
      default:
        break;
    }
  }
  return std::string_view::npos;
}

bool has_lambda(std::string_view masked) {
  char last = '\0';
  std::string_view last_word;
  for (std::size_t at = 0; at < masked.size(); ++at) {
    const char next = masked[at];
    if (is_word_part(next)) {
      const std::size_t begin = at;
      while (at + 1 < masked.size() && is_word_part(masked[at + 1])) ++at;
      last_word = masked.substr(begin, at + 1 - begin);
      last = 'w';
    } else if (next == '[') {
      const bool is_index = (last == 'w' && last_word != "return") || last == ')' || last == ']' ||
                            last == '}' || last == '"';
      const bool is_attribute = at + 1 < masked.size() && masked[at + 1] == '[';
      if (!is_index && !is_attribute) return true;
      last = next;
      if (is_attribute) ++at;
    } else if (std::isspace(static_cast<unsigned char>(next)) == 0) {
      last = next;
    }
  }
  return false;
}

bool is_declaration(std::string_view masked) {
  const Words leading{"return", "new", "delete", "throw", "co_await", "co_yield", "not"};
  std::string signs;  // between two words
  bool has_word = false, has_angle = false;
  for (std::size_t at = 0; at < masked.size(); ++at) {
    const char next = masked[at];
    if (is_word_start(next)) {
      const std::size_t begin = at;
      while (at + 1 < masked.size() && is_word_part(masked[at + 1])) ++at;
      const std::string_view word = masked.substr(begin, at + 1 - begin);
      const bool follows_type = has_word && (signs.empty() || (has_angle && signs == ">"));
      if (follows_type && leading.count(word) == 0) return true;
      // T* p = ...
      const bool follows_star = has_word && (signs == "*" || signs == "&" || signs == ">*" ||
                                             signs == ">&" || signs == "&&");
      std::size_t behind = at + 1;
      while (behind < masked.size() && masked[behind] == ' ') ++behind;
      const bool has_equals =
          behind + 1 < masked.size() && masked[behind] == '=' && masked[behind + 1] != '=';
      if (follows_star && has_equals) return true;
      has_word = leading.count(word) == 0;
      signs.clear();
    } else if (next == '(' && has_angle) {
      const std::size_t closing = find_closing(masked, at);  // std::function<int(int)>
      if (closing == std::string_view::npos) return false;
      at = closing;
    } else if (next == '(' || next == '{' || next == '[' || next == '=' || next == ';') {
      return false;
    } else if (std::isspace(static_cast<unsigned char>(next)) == 0) {
      has_angle = has_angle || next == '<';
      signs = next == '>' ? ">" : signs + next;
    }
  }
  return false;
}

std::vector<CodeStatement> split_statements(std::string_view masked) {
  return Splitter(masked).run();
}

}  // namespace px::cpp
