#include "interpreters/cpp/cells/cell_mistakes.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "interpreters/cpp/cells/code_statements.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

/// Where the outermost brace that is never closed stands.
std::optional<std::size_t> find_open_brace(std::string_view text) {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '{') open.push_back(at);
    if (text[at] == '}' && !open.empty()) open.pop_back();
  }
  if (open.empty()) return std::nullopt;
  return open.front();
}

std::string_view word_at(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  while (end < text.size() && is_word_part(text[end])) ++end;
  return text.substr(begin, end - begin);
}

/// What is wrong with a statement that begins with that word; "" for nothing.
std::string why_stray(std::string_view word, std::string_view behind) {
  const std::string quoted = "'" + std::string(word) + "'";
  if (word == "return") return stray_return;
  if (word == "goto")
    return "'goto' is outside of a function: put the code and its labels into a function";
  if (word == "break") return "'break' is outside of a loop or switch";
  if (word == "continue") return "'continue' is outside of a loop";
  if (word == "case" || word == "default") return quoted + " is outside of a switch";
  if (word == "else") return "'else' has no 'if' before it";
  if (word == "catch") return "'catch' has no 'try' before it";
  const std::size_t next = behind.find_first_not_of(" \t\n");
  const bool is_label =
      !word.empty() && next != behind.npos && behind[next] == ':' && behind.substr(next, 2) != "::";
  if (word == "public" || word == "private" || word == "protected")
    return is_label ? quoted + " is outside of a class" : "";
  return is_label
             ? "the label " + quoted + " is outside of a function: put the code into a function"
             : "";
}

/// A `return` in a block at the top, such as the body of a loop; not in a class or lambda in it.
std::optional<std::size_t> find_return_in_block(std::string_view block) {
  for (const char* word : {"struct", "class", "union"})
    if (block.find(word) != block.npos) return std::nullopt;  // its functions may return
  if (has_lambda(block)) return std::nullopt;
  for (std::size_t at = 0; at < block.size();) {
    const std::string_view word = word_at(block, at);
    if (word == "return") return at;
    at += std::max<std::size_t>(word.size(), 1);
  }
  return std::nullopt;
}

struct Stray {
  std::size_t place;
  std::string what;
};

std::optional<Stray> find_stray(std::string_view text) {
  for (const CodeStatement& each : split_statements(text)) {
    const std::string_view statement = text.substr(each.begin, each.end - each.begin);
    const std::string_view word = word_at(statement, 0);
    if (std::string what = why_stray(word, statement.substr(word.size())); !what.empty())
      return Stray{each.begin, std::move(what)};
    const bool is_run = each.kind == StatementKind::block && word != "namespace" &&
                        word != "inline" && word != "extern";
    if (const auto place = is_run ? find_return_in_block(statement) : std::nullopt)
      return Stray{each.begin + *place, stray_return};
  }
  return std::nullopt;
}

/// The place in the code of a place in its expansion.
std::size_t place_in_code(const ExpandedCode& expanded, std::size_t place) {
  for (const ExpandedCode::Expansion& each : expanded.expansions)
    if (place >= each.begin && place < each.end) return each.code_begin;
  return expanded.begin_in_code(place).value_or(0);
}

/// As #line directives say.
long line_number(std::string_view code, std::size_t at) {
  constexpr std::string_view directive = "\n#line ";
  std::size_t begin = 0;
  long line = 1;
  if (const std::size_t last = code.substr(0, at).rfind(directive); last != code.npos) {
    const std::size_t number = last + directive.size();
    begin = std::min(at, std::min(code.find('\n', number), code.size() - 1) + 1);
    std::from_chars(code.data() + number, code.data() + begin, line);
  }
  const std::string_view text = code.substr(begin, at - begin);
  return line + std::count(text.begin(), text.end(), '\n');
}

bool has_conditions(std::string_view code) {
  for (std::size_t at = 0; (at = code.find('#', at)) != std::string_view::npos; ++at) {
    const std::size_t word = code.find_first_not_of(" \t", at + 1);
    if (word != std::string_view::npos && code.substr(word, 2) == "if") return true;
  }
  return false;
}

}  // namespace

std::optional<CellMistake> find_mistake(std::string_view code, const FindMacro& find_macro) {
  if (has_conditions(code)) return std::nullopt;
  const ExpandedCode expanded = expand_macros(code, find_macro);
  if (const auto brace = find_open_brace(expanded.text))
    return CellMistake{place_in_code(expanded, *brace), "this '{' is never closed"};
  return find_stray_statement(code, find_macro);
}

std::optional<CellMistake> find_stray_statement(std::string_view code,
                                                const FindMacro& find_macro) {
  if (has_conditions(code)) return std::nullopt;
  const ExpandedCode expanded = expand_macros(code, find_macro);
  if (auto stray = find_stray(expanded.text))
    return CellMistake{place_in_code(expanded, stray->place), std::move(stray->what)};
  return std::nullopt;
}

std::string diagnostic_of(const CellMistake& mistake, const std::string& code,
                          const std::string& cell) {
  const std::size_t at = std::min(mistake.offset, code.size());
  const std::size_t before = at == 0 ? std::string::npos : code.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::string line = code.substr(begin, std::min(code.find('\n', at), code.size()) - begin);
  const std::string number = std::to_string(line_number(code, at));
  return cell + ":" + number + ":" + std::to_string(at - begin + 1) + ": error: " + mistake.what +
         "\n    " + number + " | " + line + "\n" + std::string(4 + number.size(), ' ') + " | " +
         std::string(at - begin, ' ') + "^\n";
}

}  // namespace px::cpp
