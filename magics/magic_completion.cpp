#include "magics/magic_completion.hpp"

#include <set>
#include <sstream>

#include "magics/magic_options.hpp"

namespace px::magics {
namespace {

constexpr std::string_view blanks = " \t";

/// The name of a magic and what stands behind it.
struct TypedMagic {
  std::string name;  ///< With its '%' or '%%'.
  std::size_t begin = 0;
};

/// Nothing for a line without a magic, or with its name alone.
std::optional<TypedMagic> call_in(std::string_view line) {
  const std::size_t mark = line.find_first_not_of(blanks);
  if (mark == line.npos || line[mark] != '%') return std::nullopt;
  const std::size_t end = line.find_first_of(blanks, mark);
  if (end == line.npos) return std::nullopt;
  return TypedMagic{std::string(line.substr(mark, end - mark)), end};
}

/// The magic whose name this is, or begins this: view.activate("_a") makes "%pxpush_a".
std::optional<Magic> magic_of(const std::string& name) {
  if (name.starts_with("%%px") || name.starts_with("%%cpp")) return Magic::px;
  for (const char* each : {"pxconfig", "pxresult", "pxpush", "pxpull", "pxscatter", "pxgather"})
    if (name.starts_with("%" + std::string(each))) return magic_named(each);
  return std::nullopt;
}

bool is_option_part(char c) {
  return c == '-' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// The long options in what a program or a magic says of itself.
std::set<std::string> options_in(const std::string& usage) {
  std::set<std::string> options;
  for (std::size_t at = 0; (at = usage.find("--", at)) != usage.npos;) {
    std::size_t end = at + 2;
    while (end < usage.size() && is_option_part(usage[end])) ++end;
    const bool is_whole = end == usage.size() ||
                          std::string_view(" ,=\n]{").find(usage[end]) != std::string_view::npos;
    if (is_whole && end > at + 3 && usage[at + 2] != '-')
      options.insert(usage.substr(at, end - at));
    at = end;
  }
  return options;
}

/// Those that the help lists, not those that its texts mention.
std::set<std::string> listed_options(const std::string& help) {
  std::set<std::string> options;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("  -")) options.merge(options_in(line.substr(0, line.find("  ", 2))));
  return options;
}

std::set<std::string> listed_commands(const std::string& help) {
  constexpr std::string_view heading = "Subcommands:\n";
  std::set<std::string> commands;
  const std::size_t begin = help.find(heading);
  if (begin == help.npos) return commands;
  std::istringstream lines(help.substr(begin + heading.size()));
  for (std::string line; std::getline(lines, line) && line.starts_with("  ");)
    if (!line.starts_with("   "))  // it continues a description otherwise
      commands.insert(line.substr(2, line.find(' ', 2) - 2));
  return commands;
}

std::optional<MagicCompletion> choose(const std::set<std::string>& names, std::string_view begun,
                                      std::size_t begin) {
  MagicCompletion completion{{}, begin};
  for (const std::string& name : names)
    if (name.starts_with(begun)) completion.matches.push_back(name);
  return completion;
}

/// The command that the words before the last one name; "" where they are options alone.
std::string command_in(const std::string& words) {
  std::istringstream stream(words);
  for (std::string word; stream >> word;)
    if (word[0] != '-') return word;
  return "";
}

}  // namespace

std::optional<MagicCompletion> complete_magic(
    std::string_view line, const std::function<std::string(const std::string& command)>& help) {
  const std::optional<TypedMagic> call = call_in(line);
  if (!call) return std::nullopt;
  const std::size_t begin = line.find_last_of(blanks) + 1;
  const std::string_view begun = line.substr(begin);
  const bool is_option = begun.starts_with("--");
  if (call->name.starts_with("%pxcluster")) {
    const std::string command =
        command_in(std::string(line.substr(call->begin, begin - call->begin)));
    if (is_option) return choose(listed_options(help(command)), begun, begin);
    if (command.empty()) return choose(listed_commands(help("")), begun, begin);
    return std::nullopt;
  }
  const std::optional<Magic> magic = magic_of(call->name);
  if (!is_option || !magic) return std::nullopt;
  return choose(options_in(usage(*magic)), begun, begin);
}

}  // namespace px::magics
