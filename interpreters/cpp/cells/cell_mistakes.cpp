#include "interpreters/cpp/cells/cell_mistakes.hpp"

#include <algorithm>
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

/// The first top-level statement that is a `return`.
std::optional<std::size_t> find_return(std::string_view text) {
  constexpr std::string_view word = "return";
  for (const CodeStatement& each : split_statements(text)) {
    const std::string_view statement = text.substr(each.begin, each.end - each.begin);
    const bool is_longer = statement.size() > word.size() && is_word_part(statement[word.size()]);
    if (statement.substr(0, word.size()) == word && !is_longer) return each.begin;
  }
  return std::nullopt;
}

/// The place in the code of a place in its expansion.
std::size_t place_in_code(const ExpandedCode& expanded, std::size_t place) {
  for (const ExpandedCode::Expansion& each : expanded.expansions)
    if (place >= each.begin && place < each.end) return each.code_begin;
  return expanded.begin_in_code(place).value_or(0);
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
  if (const auto place = find_return(expanded.text))
    return CellMistake{place_in_code(expanded, *place),
                       "'return' stands outside of a function: to show a value, end the cell with "
                       "the expression alone"};
  return std::nullopt;
}

std::string diagnostic_of(const CellMistake& mistake, const std::string& code,
                          const std::string& cell) {
  const std::size_t at = std::min(mistake.offset, code.size());
  const auto lines = std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  const std::size_t before = at == 0 ? std::string::npos : code.rfind('\n', at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  const std::string line = code.substr(begin, std::min(code.find('\n', at), code.size()) - begin);
  const std::string number = std::to_string(lines + 1);
  return cell + ":" + number + ":" + std::to_string(at - begin + 1) + ": error: " + mistake.what +
         "\n    " + number + " | " + line + "\n" + std::string(4 + number.size(), ' ') + " | " +
         std::string(at - begin, ' ') + "^\n";
}

}  // namespace px::cpp
