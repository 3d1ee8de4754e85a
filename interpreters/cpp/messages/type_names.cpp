#include "interpreters/cpp/messages/type_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

constexpr std::string_view with_allocator[] = {
    "basic_string",       "vector",         "deque",         "list",
    "forward_list",       "set",            "multiset",      "map",
    "multimap",           "unordered_set",  "unordered_map", "unordered_multiset",
    "unordered_multimap", "basic_stringbuf"};
/// What stands behind the first argument, e.g. `hash` for `std::hash<first>`.
constexpr std::string_view helpers[] = {"char_traits", "less",           "hash",
                                        "equal_to",    "default_delete", "deque"};
constexpr std::string_view with_helper[] = {
    "basic_string",   "basic_string_view", "set",           "multiset",
    "map",            "multimap",          "unordered_set", "unordered_map",
    "unordered_multiset", "unordered_multimap", "unique_ptr",    "stack",
    "queue"};

template <std::size_t N>
bool contains(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

/// How many characters at `at` are a part of a name that begins with `operator`, as `<<` is.
std::size_t operator_length(std::string_view text, std::size_t at) {
  constexpr std::string_view word = "operator";
  const std::string_view before = text.substr(0, at);
  if (!before.ends_with(word)) return 0;
  const std::size_t end = text.find_first_not_of("<>=-", at);
  const std::string_view characters = text.substr(at, std::min(end, text.size()) - at);
  for (const std::string_view each : {"<=>", "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "<", ">"})
    if (characters.starts_with(each)) return each.size();
  return 0;
}

/// What stands between `<` and its partner: the arguments, and where the partner is.
struct Arguments {
  std::vector<std::string> each = {};
  std::size_t close = 0;
};
std::optional<Arguments> arguments_at(std::string_view text, std::size_t open) {
  Arguments found;
  int depth = 0, other_depth = 0;  // other brackets may hold a comparison
  std::size_t begin = open + 1;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (const std::size_t length = operator_length(text, at); length > 0) {
      at += length - 1;
      continue;
    }
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++other_depth;
    if (c == ')' || c == ']' || c == '}') --other_depth;
    if (other_depth > 0) continue;
    if (c == '<') ++depth;
    if (c == '>') --depth;
    const bool is_end = depth == 0;
    if (!is_end && (c != ',' || depth > 1)) continue;
    const std::string_view argument = trim(text.substr(begin, at - begin));
    if (!argument.empty()) found.each.push_back(as_written(argument));
    begin = at + 1;
    found.close = at;
    if (is_end) return found;
  }
  return std::nullopt;
}

bool is_default(std::string_view type, const std::vector<std::string>& arguments) {
  const std::string_view last = arguments.back();
  if (contains(with_allocator, type) && last.starts_with("std::allocator<")) return true;
  return contains(with_helper, type) &&
         std::any_of(std::begin(helpers), std::end(helpers), [&](std::string_view helper) {
           return last == "std::" + std::string(helper) + "<" + arguments.front() + ">";
         });
}

/// How the library calls the text of such characters: `string` for char; "" where it has no name.
std::string name_of_text(std::string_view type, const std::vector<std::string>& arguments) {
  if (arguments.size() != 1 || (type != "basic_string" && type != "basic_string_view")) return "";
  const std::string name(type.substr(type.find('_') + 1));
  const std::string& character = arguments.front();
  if (character == "char") return name;
  if (character == "wchar_t") return "w" + name;
  if (character == "char8_t") return "u8" + name;
  if (character == "char16_t") return "u16" + name;
  return character == "char32_t" ? "u32" + name : "";
}

/// The template's name, which ends the text.
std::string_view name_before(std::string_view text) {
  std::size_t begin = text.size();
  while (begin > 0 && (is_word_part(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  return text.substr(begin);
}

void append_template(std::string& text, std::vector<std::string> arguments) {
  constexpr std::string_view library = "std::";
  const std::string_view name = name_before(text);
  if (name.starts_with(library)) {
    const std::string type(name.substr(library.size()));
    while (arguments.size() > 1 && is_default(type, arguments)) arguments.pop_back();
    if (const std::string known = name_of_text(type, arguments); !known.empty()) {
      text.resize(text.size() - type.size());
      text += known;
      return;
    }
  }
  text += '<';
  for (std::size_t i = 0; i < arguments.size(); ++i) text += (i > 0 ? ", " : "") + arguments[i];
  text += '>';
}

/// Without inline namespaces and tags, which no program writes.
std::string without_versions(std::string text) {
  constexpr std::string_view space = "__cxx11::";
  for (std::size_t at; (at = text.find(space)) != text.npos;) text.erase(at, space.size());
  for (std::size_t tag; (tag = text.find("[abi:")) != text.npos;)
    text.erase(tag, std::min(text.find(']', tag), text.size() - 1) + 1 - tag);
  return text;
}

}  // namespace

std::string as_written(std::string_view demangled) {
  const std::string source = without_versions(std::string(demangled));
  std::string result;
  for (std::size_t at = 0; at < source.size(); ++at) {
    if (const std::size_t length = operator_length(source, at); length > 0) {
      result += source.substr(at, length);
      at += length - 1;
    } else if (auto arguments = source[at] == '<' ? arguments_at(source, at) : std::nullopt) {
      append_template(result, std::move(arguments->each));
      at = arguments->close;
    } else {
      result += source[at];
    }
  }
  return result;
}

std::string name_of_type(const char* mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  const std::string name = status == 0 ? as_written(text) : mangled;
  std::free(text);
  return name;
}

std::string name_of_symbol(const std::string& symbol) {
  return symbol.starts_with("_Z") ? name_of_type(symbol.c_str()) : symbol;
}

}  // namespace px::cpp
