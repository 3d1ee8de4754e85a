#include <algorithm>
#include <charconv>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

struct Known {
  std::string_view name;
  DirectiveKind kind;
};
constexpr Known known[] = {{"inc", DirectiveKind::include_folder}, {"lib", DirectiveKind::library},
                           {"pkg", DirectiveKind::package},        {"flags", DirectiveKind::flags},
                           {"pch", DirectiveKind::header},         {"time", DirectiveKind::time},
                           {"timeit", DirectiveKind::timeit}};

/// Takes the first word away, its quotes resolved.
std::string take_word(std::string_view& text) {
  text = trim(text);
  std::string word;
  char quote = '\0';
  std::size_t at = 0;
  for (; at < text.size() && (quote != '\0' || !is_blank(text[at])); ++at) {
    const char next = text[at];
    if (quote == '\0' && (next == '"' || next == '\''))
      quote = next;
    else if (next == quote)
      quote = '\0';
    else
      word += next;
  }
  text.remove_prefix(at);
  return word;
}

/// "-n 100" or "-n100" at the head of the text.
template <class Number>
bool take_option(std::string_view& text, std::string_view name, Number& number) {
  std::string_view rest = trim(text);
  if (rest.substr(0, name.size()) != name) return false;
  rest = trim(rest.substr(name.size()));
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (failure != std::errc{} || number <= 0) return false;
  text = rest.substr(static_cast<std::size_t>(end - rest.data()));
  return true;
}

/// The place of the first line that has code, or the end; directives are not code.
class DirectiveReader {
 public:
  explicit DirectiveReader(std::string_view cell) : cell_(cell) { text_.code = cell; }

  Result<CellText> run() {
    while (begin_ < cell_.size()) {
      const std::string_view line = current_line();
      if (is_in_comment_ || line.empty() || line.substr(0, 2) == "//" ||
          line.substr(0, 2) == "/*") {
        pass_comment(line);
      } else if (line[0] == '%') {
        if (const Result<void> done = directive(line); !done) return done.error();
      } else {
        break;
      }
      begin_ = std::min(cell_.size(), line_end_ + 1);
      ++number_;
      if (text_.timing() != nullptr && !text_.timing_code_begins_later) break;
    }
    return CellText(std::move(text_));
  }

 private:
  struct Draft : CellText {
    bool timing_code_begins_later = true;
  };

  std::string_view current_line() {
    line_end_ = std::min(cell_.size(), cell_.find('\n', begin_));
    return trim(cell_.substr(begin_, line_end_ - begin_));
  }

  void pass_comment(std::string_view line) {
    if (!is_in_comment_ && line.substr(0, 2) != "/*") return;
    is_in_comment_ = line.find("*/", is_in_comment_ ? 0 : 2) == std::string_view::npos;
  }

  Result<void> directive(std::string_view line) {
    line.remove_prefix(line.substr(0, 2) == "%%" ? 2 : 1);
    const std::string name = take_word(line);
    const auto* const found = std::find_if(std::begin(known), std::end(known),
                                           [&](const Known& each) { return each.name == name; });
    if (found == std::end(known))
      return error_in_line(
          number_, "unknown directive %" + name +
                       "; C++ cells have %inc, %lib, %pkg, %pch, %flags, %time and %timeit");
    CellDirective made{found->kind, {}, number_};
    if (found->kind == DirectiveKind::time || found->kind == DirectiveKind::timeit)
      return timing(made, line);
    while (!trim(line).empty()) made.arguments.push_back(take_word(line));
    if (made.arguments.empty())
      return error_in_line(
          number_, "%" + name + " needs an argument, e.g. %" + name + " " + example(found->kind));
    text_.directives.push_back(std::move(made));
    blank(line_end_);
    return {};
  }

  static std::string example(DirectiveKind kind) {
    switch (kind) {
      case DirectiveKind::include_folder:
        return "/opt/mine/include";
      case DirectiveKind::library:
        return "openblas";
      case DirectiveKind::package:
        return "eigen3";
      case DirectiveKind::header:
        return "<Eigen/Dense>";
      default:
        return "-O3";
    }
  }

  Result<void> timing(CellDirective& made, std::string_view rest) {
    if (text_.timing() != nullptr)
      return error_in_line(number_, "a cell may have only one of %time and %timeit");
    if (made.kind == DirectiveKind::timeit)
      while (take_option(rest, "-n", made.loops) || take_option(rest, "-r", made.repeats)) {
      }
    rest = trim(rest);
    text_.directives.push_back(made);
    text_.timing_code_begins_later = rest.empty();
    blank(rest.empty() ? line_end_ : static_cast<std::size_t>(rest.data() - cell_.data()));
    return {};
  }

  /// Takes the directive out of the code.
  void blank(std::size_t end) {
    std::fill(text_.code.begin() + static_cast<std::ptrdiff_t>(begin_),
              text_.code.begin() + static_cast<std::ptrdiff_t>(end), ' ');
  }

  std::string_view cell_;
  Draft text_;
  std::size_t begin_ = 0, line_end_ = 0;  // of the current line
  int number_ = 1;
  bool is_in_comment_ = false;
};

}  // namespace

const CellDirective* CellText::timing() const {
  for (const CellDirective& each : directives)
    if (each.kind == DirectiveKind::time || each.kind == DirectiveKind::timeit) return &each;
  return nullptr;
}

Error error_in_line(int line, const std::string& what) {
  return {ErrorKind::bad_input, "line " + std::to_string(line) + " of the cell: " + what};
}

Result<CellText> read_cell(std::string_view cell) {
  return DirectiveReader(cell).run();
}

}  // namespace px::cpp
