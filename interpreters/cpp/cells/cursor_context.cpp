#include "interpreters/cpp/cells/cursor_context.hpp"

#include <algorithm>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

/// Where the path in the #include begins whose line ends there; npos where it is no such line.
std::size_t path_begin(std::string_view code, std::size_t cursor) {
  const std::size_t before = cursor == 0 ? code.npos : code.rfind('\n', cursor - 1);
  const std::size_t first = before == code.npos ? 0 : before + 1;
  const std::string_view line = code.substr(first, cursor - first);
  const std::size_t at = included_at(line);
  if (at >= line.size() || (line[at] != '<' && line[at] != '"')) return code.npos;
  const char close = line[at] == '<' ? '>' : '"';
  return line.find(close, at + 1) == line.npos ? first + at + 1 : code.npos;
}

CursorContext context_of_path(std::string_view code, std::size_t begin, std::size_t cursor) {
  CursorContext context;
  const std::size_t slash = code.substr(begin, cursor - begin).rfind('/');
  context.is_path = true;
  context.begin = slash == code.npos ? begin : begin + slash + 1;
  context.end = std::min(code.size(), code.find_first_of("/>\"\n", cursor));
  context.word = code.substr(context.begin, cursor - context.begin);
  context.whole_word = code.substr(context.begin, context.end - context.begin);
  return context;
}

/// Where `a::b` begins whose last name begins there.
std::size_t qualified_begin(std::string_view text, std::size_t begin) {
  while (begin >= 2 && text.substr(begin - 2, 2) == "::") {
    std::size_t name = begin - 2;
    while (name > 0 && is_word_part(text[name - 1])) --name;
    if (name == begin - 2) break;
    begin = name;
  }
  return begin;
}

}  // namespace

CursorContext context_of_cursor(std::string_view code, std::size_t cursor) {
  cursor = std::min(cursor, code.size());
  if (const std::size_t path = path_begin(code, cursor); path != code.npos)
    return context_of_path(code, path, cursor);
  // What the cursor is in shows in how a letter there is masked.
  const char mark = mask_code(std::string(code.substr(0, cursor)) + "a").text.back();
  const bool is_directive = mark == '#';
  const std::string text = is_directive ? std::string(code) : mask_code(code).text;
  CursorContext context;
  context.is_code = is_directive || mark == 'a';
  context.begin = context.end = cursor;
  if (!context.is_code) return context;
  while (context.begin > 0 && is_word_part(text[context.begin - 1])) --context.begin;
  if (context.begin < cursor && is_digit(text[context.begin])) context.begin = cursor;  // a number
  if (context.begin < cursor || cursor >= text.size() || !is_digit(text[cursor]))
    while (context.end < text.size() && is_word_part(text[context.end])) ++context.end;
  context.word = code.substr(context.begin, cursor - context.begin);
  context.whole_word = code.substr(context.begin, context.end - context.begin);
  const std::size_t first = qualified_begin(text, context.begin);
  context.qualified = code.substr(first, context.end - first);
  const std::string_view before = std::string_view(text).substr(0, context.begin);
  context.is_member =
      before.ends_with("::") || before.ends_with("->") ||
      (before.ends_with(".") && !(before.size() > 1 && is_digit(before[before.size() - 2])));
  return context;
}

}  // namespace px::cpp
