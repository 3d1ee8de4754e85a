#include "program/help_formatter.hpp"

#include <algorithm>
#include <sstream>

namespace px::program {
namespace {

constexpr std::size_t most_columns = 100;

/// Where the second column of a line begins, behind two blanks or more; its first one, where it has
/// no other.
std::size_t second_column(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", begin);
  return gap == std::string_view::npos ? begin : line.find_first_not_of(' ', gap);
}

std::string wrap_line(std::string_view line, std::size_t width) {
  const std::size_t column = second_column(line);
  std::string text;
  std::string before;  // the blanks before what continues the line
  while (before.size() + line.size() > width) {
    const std::size_t least = before.empty() ? column : 0;
    const std::size_t blank = line.rfind(' ', width - before.size());
    if (blank == std::string_view::npos || blank <= least) break;
    text += before + std::string(line.substr(0, blank)) + "\n";
    line.remove_prefix(blank + 1);
    before = std::string(column, ' ');
  }
  return text + before + std::string(line);
}

}  // namespace

std::string wrap_help(std::string_view text, std::size_t width) {
  std::string wrapped;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    wrapped += wrap_line(text.substr(0, end), width);
    if (end < text.size()) wrapped += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  return wrap_help(CLI::Formatter::make_help(app, std::move(name), mode), most_columns);
}

std::string HelpFormatter::make_option_name(const CLI::Option* option, bool is_positional) const {
  const std::string all = CLI::Formatter::make_option_name(option, is_positional);
  if (is_positional) return all;
  std::string shown;
  bool has_long_name = false;
  std::stringstream names{all};
  for (std::string name; std::getline(names, name, ',');) {
    if (name.find('.') != std::string::npos) continue;
    has_long_name |= name.starts_with("--");
    shown += (shown.empty() ? "" : ",") + name.substr(0, name.find('{'));
  }
  return has_long_name ? shown : all;
}

}  // namespace px::program
