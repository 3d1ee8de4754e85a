#include "interpreters/cpp/messages/diagnostic_text.hpp"

#include <regex>
#include <sstream>
#include <string_view>

namespace px::cpp {
namespace {

constexpr const char* end_of_colour = "\x1b[0m";

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string name_lines_of_cells(const std::string& text) {
  // The name of a cell is no path: it has neither a slash nor a dot.
  static const std::regex place(
      R"(^((?:\x1b\[[0-9;]*m)*(?:In file included from )?[^/.:|\s\x1b][^/.:|]*):(\d+):(?:(\d+):)?)");
  std::string result;
  for (const std::string& line : lines_of(text)) {
    if (line.find("<<< inputs >>>") != std::string::npos) continue;  // clang's name for all cells
    if (line == end_of_colour && !result.empty()) {                  // after a line of carets
      result.insert(result.size() - 1, line);
      continue;
    }
    std::smatch match;
    if (line.size() < 4096 && std::regex_search(line, match, place)) {
      result += match[1].str() + ", line " + match[2].str();
      if (match[3].matched) result += ", column " + match[3].str();
      result += ":" + match.suffix().str() + "\n";
    } else {
      result += line + "\n";
    }
  }
  return result;
}

std::string without_colours(const std::string& text) {
  static const std::regex colour("\x1b\\[[0-9;]*m");
  return std::regex_replace(text, colour, "");
}

std::string first_error(const std::string& text) {
  for (const std::string& line : lines_of(without_colours(text)))
    if (line.find("error: ") != std::string::npos) return line;
  return "the compiler gave no reason";
}

std::string hint_of_first_error(const std::string& text) {
  constexpr std::string_view mark = "hint: ";
  int errors = 0;
  for (const std::string& line : lines_of(without_colours(text))) {
    errors += line.find("error: ") != std::string::npos;
    if (errors == 1 && line.starts_with(mark)) return line.substr(mark.size());
  }
  return "";
}

}  // namespace px::cpp
