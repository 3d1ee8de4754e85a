#include "interpreters/cpp/messages/hints.hpp"

#include <optional>
#include <regex>

#include "interpreters/cpp/messages/known_names.hpp"
#include "wire/nearest_name.hpp"

namespace px::cpp {
namespace {

/// Words of other languages, and what C++ says instead.
struct OtherWord {
  std::string_view word, advice;
};
constexpr OtherWord other_words[] = {
    {"print", "C++ prints with `std::cout << x << std::endl;`"},
    {"println", "C++ prints with `std::cout << x << std::endl;`"},
    {"System", "C++ prints with `std::cout << x << std::endl;`"},
    {"console", "C++ prints with `std::cout << x << std::endl;`"},
    {"len", "a container has its length in `.size()`"},
    {"True", "C++ writes `true`"},
    {"False", "C++ writes `false`"},
    {"None", "C++ writes `nullptr` for no pointer, and `std::nullopt` for no value"},
    {"null", "C++ writes `nullptr`"},
    {"elif", "C++ writes `else if (...)`"},
    {"def", "this is a C++ cell: a function is written `double f(double x) { return x; }`"},
    {"import", "this is a C++ cell: headers come with `#include <name>`"},
    {"from", "this is a C++ cell: headers come with `#include <name>`"},
    {"let", "C++ declares with a type or `auto`: `auto x = 1;`"},
    {"var", "C++ declares with a type or `auto`: `auto x = 1;`"},
    {"function", "a function is written `double f(double x) { return x; }`"},
    {"foreach", "C++ writes `for (auto x : container)`"},
    {"String", "C++ has `std::string`"},
    {"boolean", "C++ has `bool`"},
    {"range", "C++ counts with `for (int i = 0; i < n; ++i)`"},
};

std::optional<std::string> matched(const std::string& message, const char* pattern) {
  std::smatch match;
  if (!std::regex_search(message, match, std::regex(pattern))) return std::nullopt;
  return match[1].str();
}

std::string hint_for_header(const std::string& header, const HasHeader& has_header) {
  if (has_header(header)) return "`#include <" + header + ">`";
  return "it is in <" + header + ">, which the standard library on this host does not have";
}

std::string hint_for_file(const std::string& path, const HasHeader& has_header) {
  if (const KnownLibrary* known = library_of_header(path)) return std::string(known->advice);
  if (header_of(path).empty())
    if (const auto near = nearest_name(path, standard_headers()); near && *near != path)
      return "did you mean `#include <" + *near + ">`?";
  for (const std::string& each : standard_headers())
    if (each == path) return "the standard library on this host does not have it";
  if (path.ends_with(".h") && has_header("c" + path.substr(0, path.size() - 2)))
    return "`#include <c" + path.substr(0, path.size() - 2) + ">`";
  return "is its package installed? `%inc folder` adds a folder of headers";
}

std::string hint_for_name(const std::string& name, const std::string& message,
                          const std::string& code, const HasHeader& has_header) {
  for (const OtherWord& each : other_words)
    if (each.word == name) return std::string(each.advice);
  if (name.starts_with("omp_"))
    return "`#include <omp.h>`, with `%flags -fopenmp` in the first cell";
  if (message.find("did you mean") != message.npos) return "";
  if (std::regex_search(code, std::regex(R"(^\s*)" + name + R"(\s*=[^=])")))
    return "declare it with a type: `auto " + name + " = ...;`";
  if (std::regex_search(code, std::regex(R"(\b)" + name + R"(\s*(\.|->|\[))")))
    return "";  // a variable, also where a function of std has its name
  const std::string header(header_of(name));
  if (header.empty()) return "";
  return has_header(header) ? "it is in std: `std::" + name + "`"
                            : hint_for_header(header, has_header);
}

}  // namespace

std::string hint_for(const std::string& message, int line, const std::string& code,
                     const HasHeader& has_header) {
  if (const auto name = matched(message,
                                "no (?:member|template|type) named '(\\w+)' in namespace "
                                "'std'"))
    return header_of(*name).empty() || message.find("did you mean") != message.npos
               ? ""
               : hint_for_header(std::string(header_of(*name)), has_header);
  if (const auto path = matched(message, "'([^']+)' file not found"))
    return hint_for_file(*path, has_header);
  if (const auto name = matched(message,
                                "(?:use of undeclared identifier|unknown type name|no "
                                "template named) '(\\w+)'"))
    return hint_for_name(*name, message, code, has_header);
  if (message.find("module name") != message.npos)
    return hint_for_name("import", message, code, has_header);
  if (message.starts_with("expected ';'"))
    return "end the statement in line " + std::to_string(line) + " with `;`";
  if (message.starts_with("missing terminating '\"'"))
    return "end the string in its line; a string of several lines is written `R\"(...)\"`";
  if (message.find("<U+201") != message.npos || message.find("U+201C") != message.npos)
    return "replace typographic quotes, often copied from documents, by \" and '";
  if (message.find("<U+") != message.npos)
    return "replace the character, which looks like another one, e.g. a minus or a blank";
  if (message.starts_with("unexpected '#pragma omp"))
    return "it has no effect: OpenMP needs `%flags -fopenmp` in the first cell";
  if (message.find("OpenMP directive") != message.npos)
    return "put the pragma and its loop into `{ }` or a function";
  if (message.starts_with("invalid operands to binary expression ('std::ostream") ||
      message.starts_with("invalid operands to binary expression ('ostream") ||
      message.starts_with("invalid operands to binary expression ('basic_ostream"))
    return "define how it is printed: `std::ostream& operator<<(std::ostream& out, const T& x)`";
  if (message.find("no capture-default specified") != message.npos)
    return "name what the lambda uses: `[x]` copies it, `[&]` refers to all";
  if (message.starts_with("a type specifier is required"))
    return "write a type before the name; before the name of a function, write the type of its "
           "result";
  if (message.starts_with("expected '(' after 'if'") ||
      message.starts_with("expected '(' after 'while'") ||
      message.starts_with("expected '(' after 'for'"))
    return "C++ has conditions in parentheses and bodies in braces";
  if (const auto name = matched(message, "reference to '(\\w+)' is ambiguous"))
    return "write `::" + *name + "`, or give it another name: `using namespace std;` also brings " +
           "`std::" + *name + "`";
  if (message.find("deduction of template arguments") != message.npos)
    return "name the type of the elements, as in `std::vector<double> v;`";
  return "";
}

std::string hint_for_head(const std::string& code, int column) {
  static const std::regex head(
      R"(^\s*([A-Za-z_]\w*)\s*\(([^(){};]*)\)\s*(?:const\s*|noexcept\s*)?(\{|$))");
  static const std::regex parameter(
      R"(^\s*(?:const\s+)?(?:[\w:]+(?:<[^()]*>)?[\s&*]+\w+|[\w:]+<.*|)"
      R"(void|bool|char|int|long|float|double)\s*(?:=.*)?$)");
  static const std::regex statement("if|for|while|switch|catch|return|else|sizeof|decltype");
  std::smatch found;
  if (!std::regex_search(code, found, head) || column > found.length(0)) return "";
  const std::string name = found[1], parameters = found[2];
  if (std::regex_match(name, statement)) return "";
  const std::string first = parameters.substr(0, parameters.find(','));
  const bool has_none = parameters.find_first_not_of(" \t") == parameters.npos;
  if (has_none ? found[3].length() == 0 : !std::regex_match(first, parameter)) return "";
  return "write the type of the function's result before '" + name + "', e.g. `double " + name +
         "(...)`, or `void` if it returns nothing";
}

std::string hint_for_symbols(const std::vector<std::string>& symbols) {
  for (const std::string& each : symbols)
    if (const KnownLibrary* known = library_of_symbol(each)) return std::string(known->advice);
  return "";
}

}  // namespace px::cpp
