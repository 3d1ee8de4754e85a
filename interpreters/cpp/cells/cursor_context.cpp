#include "interpreters/cpp/cells/cursor_context.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "interpreters/cpp/cells/code_mask.hpp"

namespace px::cpp {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/// Before the bracket that belongs to the closing one at `end - 1`.
std::size_t before_bracket(std::string_view text, std::size_t end) {
  const char close = text[end - 1], open = close == ')' ? '(' : '[';
  int depth = 0;
  while (end > 0) {
    --end;
    if (text[end] == close) ++depth;
    if (text[end] == open && --depth == 0) return end;
  }
  return 0;
}

/// The connector that ends there.
std::string_view connector_before(std::string_view text, std::size_t end) {
  const std::string_view before = text.substr(0, end);
  for (const std::string_view connector : {"->", "::", "."})
    if (before.ends_with(connector)) return connector;
  return "";
}

/// Where the expression a.b(c)[d]::e begins that ends there.
std::size_t object_begin(std::string_view text, std::size_t end) {
  for (std::size_t begin = end;;) {
    while (begin > 0 && (text[begin - 1] == ')' || text[begin - 1] == ']'))
      begin = before_bracket(text, begin);
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    const std::string_view connector = connector_before(text, begin);
    if (connector.empty()) return begin;
    begin -= connector.size();
  }
}

std::string complete_statements(std::string_view code, std::string_view masked) {
  struct Block {
    std::size_t begin;
    std::string text;
  };
  std::vector<Block> blocks{{0, ""}};
  int parentheses = 0;
  const auto keep_up_to = [&](std::size_t end) {
    Block& block = blocks.back();
    block.text += code.substr(block.begin, end - block.begin);
    block.begin = end;
  };
  for (std::size_t i = 0; i < masked.size(); ++i) {
    const char c = masked[i];
    if (c == '(') ++parentheses;
    if (c == ')') --parentheses;
    if (c == '{') blocks.push_back({i + 1, ""});
    if (c == '}' && blocks.size() > 1) blocks.pop_back();
    const bool ends_directive = c == '#' && (i + 1 == masked.size() || masked[i + 1] != '#');
    if ((c == ';' && parentheses == 0) || c == '}' || ends_directive) keep_up_to(i + 1);
  }
  std::string statements;
  for (const Block& block : blocks) statements += block.text + "\n";
  return statements;
}

}  // namespace

CursorContext context_of_cursor(std::string_view code, std::size_t cursor) {
  cursor = std::min(cursor, code.size());
  const std::string masked = mask_code(code).text;
  const std::string_view text = masked;
  CursorContext context;
  context.begin = cursor;
  while (context.begin > 0 && is_word(text[context.begin - 1])) --context.begin;
  std::size_t end = cursor;
  while (end < text.size() && is_word(text[end])) ++end;
  context.word = code.substr(context.begin, cursor - context.begin);
  context.whole_word = code.substr(context.begin, end - context.begin);
  context.connector = connector_before(text, context.begin);
  const std::size_t object_end = context.begin - context.connector.size();
  std::size_t begin = context.begin;
  if (!context.connector.empty()) {
    begin = object_begin(text, object_end);
    context.object = code.substr(begin, object_end - begin);
  }
  context.statements = complete_statements(code.substr(0, begin), text.substr(0, begin));
  return context;
}

}  // namespace px::cpp
