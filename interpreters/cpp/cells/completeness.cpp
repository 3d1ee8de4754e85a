#include "interpreters/cpp/cells/completeness.hpp"

#include <cctype>
#include <optional>
#include <vector>

#include "interpreters/cpp/cells/cell_mistakes.hpp"
#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_statements.hpp"

namespace px::cpp {
namespace {

constexpr std::string_view indent = "    ";

/// The brackets that are open at the end; nothing where one closes that does not fit.
std::optional<std::vector<std::size_t>> open_brackets(std::string_view masked) {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < masked.size(); ++at) {
    const char next = masked[at];
    if (next == '(' || next == '[' || next == '{') open.push_back(at);
    const std::size_t closing = std::string_view(")]}").find(next);
    if (closing == std::string_view::npos) continue;
    if (open.empty() || masked[open.back()] != "([{"[closing]) return std::nullopt;
    open.pop_back();
  }
  return open;
}

/// How many #if have no #endif; negative where there are more of these.
int open_conditions(std::string_view code, std::string_view masked) {
  int open = 0;
  for (std::size_t at = 0; at < masked.size() && open >= 0; ++at) {
    const bool begins = masked[at] == '#' && code[at] == '#';
    const std::size_t word = begins ? code.find_first_not_of(" \t", at + 1) : code.npos;
    if (word == code.npos) continue;
    if (code.substr(word, 2) == "if") ++open;
    if (code.substr(word, 5) == "endif") --open;
  }
  return open;
}

/// An operator at the end that waits for what comes behind it.
bool ends_in_operator(std::string_view masked) {
  std::string_view last;
  for (std::size_t at = 0; at < masked.size(); ++at)
    if (std::isspace(static_cast<unsigned char>(masked[at])) == 0)
      last = masked.substr(at > 0 ? at - 1 : 0, at > 0 ? 2 : 1);
  return !last.empty() && last != "++" && last != "--" &&
         std::string_view("=+-*/,|&?:%^.\\").find(last.back()) != last.npos;
}

/// Whether the last statement needs a body: `if (x)`, `else`, `namespace a`, `template <class T>`.
bool awaits_body(std::string_view masked) {
  const std::vector<CodeStatement> statements = split_statements(masked);
  if (statements.empty()) return false;
  const CodeStatement& last = statements.back();
  std::string_view text = masked.substr(last.begin, last.end - last.begin);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.remove_suffix(1);
  if (text.starts_with("try") && text.find("catch") == text.npos) return true;
  if (last.is_ended) return false;
  if (last.kind == StatementKind::block) return !(text.starts_with("do") && text.ends_with(")"));
  const bool is_template = text.starts_with("template") && text.ends_with(">");
  const bool is_derived = (text.starts_with("struct") || text.starts_with("class")) &&
                          text.find('{') == text.npos && text.find(':') != text.npos;
  return is_template || is_derived || text.starts_with("namespace");
}

std::string blanks_of_line(std::string_view code, std::size_t at) {
  const std::size_t before = at == 0 ? code.npos : code.rfind('\n', at - 1);
  const std::size_t begin = before == code.npos ? 0 : before + 1;
  std::size_t end = begin;
  while (end < code.size() && (code[end] == ' ' || code[end] == '\t')) ++end;
  return std::string(code.substr(begin, end - begin));
}

}  // namespace

Completeness completeness(std::string_view code) {
  const MaskedCode masked = mask_code(code);
  const auto open = open_brackets(masked.text);
  const int conditions = open_conditions(code, masked.text);
  if (!open || masked.has_open_literal || conditions < 0) return Completeness::invalid;
  if (masked.is_open || !open->empty() || conditions > 0) return Completeness::incomplete;
  if (find_stray_statement(code, {})) return Completeness::invalid;
  if (ends_in_operator(masked.text) || awaits_body(masked.text)) return Completeness::incomplete;
  return Completeness::complete;
}

std::string next_indent(std::string_view code) {
  const MaskedCode masked = mask_code(code);
  const auto open = open_brackets(masked.text);
  if (masked.is_open || !open) return "";
  if (!open->empty()) return blanks_of_line(code, open->back()) + std::string(indent);
  const std::size_t last = code.find_last_not_of(" \t\r\n");
  const bool is_indented = ends_in_operator(masked.text) || awaits_body(masked.text);
  if (last == code.npos || !is_indented) return "";
  return blanks_of_line(code, last) + std::string(indent);
}

}  // namespace px::cpp
