#include "program/man_page.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <system_error>

#include <px_version.hpp>

namespace px::program {
namespace {

constexpr const char* exit_codes_title = "Exit codes:";

/// The text as roff prints it: a backslash is an escape, a hyphen-minus would become a hyphen, and
/// a line that begins with a full stop or an apostrophe would be a request.
std::string escaped(const std::string& text) {
  std::string result;
  bool is_first = true;
  for (const char c : text) {
    if (is_first && (c == '.' || c == '\'')) result += "\\&";
    is_first = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string bold(const std::string& text) {
  return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(const std::string& text) {
  return "\\fI" + escaped(text) + "\\fR";
}

std::string joined(const std::vector<const CLI::App*>& commands, const std::string& between) {
  std::string text;
  for (const CLI::App* const command : commands)
    text += (text.empty() ? "" : between) + command->get_name();
  return text;
}

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty()) shown.push_back(each);
  return shown;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app, bool is_positional) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* const option : app.get_options())
    if (!option->get_group().empty() && option->get_positional() == is_positional)
      shown.push_back(option);
  return shown;
}

/// "-n, --n INT": names with a dot, which are ipyparallel's, only where there is no other.
std::string heading_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    if (name.find('.') == std::string::npos) names.push_back("--" + name);
  if (names.empty())
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + bold(name);
  if (option.get_items_expected_max() > 0) text += " " + italic(option.get_type_name());
  return text;
}

std::string paragraph(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + "\n" + escaped(text) + "\n";
}

std::string text_of(const CLI::Option& option) {
  const std::string& value = option.get_default_str();
  return option.get_description() + (value.empty() ? "" : " (default: " + value + ")");
}

std::string options_section(const CLI::App& app) {
  const auto options = shown_options(app, false);
  std::vector<std::string> groups;
  for (const CLI::Option* const option : options)
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    if (groups.size() > 1) text += ".SS " + escaped(group) + "\n";
    for (const CLI::Option* const option : options)
      if (option->get_group() == group) text += paragraph(heading_of(*option), text_of(*option));
  }
  return text;
}

std::string arguments_section(const CLI::App& app) {
  const auto arguments = shown_options(app, true);
  std::string text = arguments.empty() ? "" : ".SH ARGUMENTS\n";
  for (const CLI::Option* const each : arguments)
    text += paragraph(italic(each->get_name(true)), text_of(*each));
  return text;
}

std::string commands_section(const std::vector<const CLI::App*>& above) {
  const auto commands = shown_commands(*above.back());
  std::string text = commands.empty() ? "" : ".SH COMMANDS\n";
  for (const CLI::App* const each : commands)
    text += paragraph("\\fB" + escaped(joined(above, "-") + "-" + each->get_name()) + "\\fR(1)",
                      each->get_description());
  return text;
}

std::string synopsis(const std::vector<const CLI::App*>& commands) {
  const CLI::App& app = *commands.back();
  std::string text =
      ".SH SYNOPSIS\n" + bold(joined(commands, " ")) + " [" + italic("options") + "]";
  for (const CLI::Option* const each : shown_options(app, true)) {
    const std::string name = italic(each->get_name(true));
    text += " " + (each->get_required() ? name : "[" + name + "]");
    if (each->get_items_expected_max() > 1) text += " ...";
  }
  if (!shown_commands(app).empty())
    text += app.get_require_subcommand_min() > 0 ? " " + italic("command") + " ..."
                                                 : " [" + italic("command") + " ...]";
  return text + "\n";
}

/// The footer of --help, from the table of exit codes on or before it.
std::string exit_codes_section(const std::string& footer) {
  const std::size_t at = footer.find(exit_codes_title);
  if (at == std::string::npos) return "";
  std::string section = ".SH EXIT STATUS\n";
  std::size_t line = footer.find('\n', at);
  while (line != std::string::npos) {
    const std::size_t end = footer.find('\n', line + 1);
    const std::string text =
        footer.substr(line + 1, end == std::string::npos ? end : end - line - 1);
    if (const std::size_t gap = text.find("  ", 2); gap != std::string::npos)
      section +=
          paragraph(bold(text.substr(2, gap - 2)), text.substr(text.find_first_not_of(' ', gap)));
    line = end;
  }
  return section;
}

std::string notes_section(const std::string& footer) {
  std::string notes = footer.substr(0, footer.find(exit_codes_title));
  while (!notes.empty() && notes.back() == '\n') notes.pop_back();
  return notes.empty() ? "" : ".SH NOTES\n" + escaped(notes) + "\n";
}

std::string see_also(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names{"pxcluster", "pxcontroller", "pxengine", "pxkernel"};
  std::erase(names, joined(commands, "-"));
  std::string text = ".SH SEE ALSO\n";
  for (const std::string& name : names)
    text += (name == names.front() ? "" : ",\n") + bold(name) + "(1)";
  return text + "\n";
}

void write_page(const std::vector<const CLI::App*>& commands, const std::filesystem::path& folder,
                std::vector<std::string>& failed) {
  const std::filesystem::path path = folder / (joined(commands, "-") + ".1");
  std::ofstream file(path);
  file << man_page(commands) << std::flush;
  if (!file) failed.push_back(path.string());
  for (const CLI::App* const each : shown_commands(*commands.back())) {
    std::vector<const CLI::App*> below = commands;
    below.push_back(each);
    write_page(below, folder, failed);
  }
}

}  // namespace

void add_exit_codes(CLI::App& app, const std::vector<ExitCode>& codes) {
  std::size_t width = 0;
  for (const ExitCode& each : codes) width = std::max(width, each.code.size());
  std::string text = app.get_footer();
  text += std::string(text.empty() ? "" : "\n\n") + exit_codes_title;
  for (const ExitCode& each : codes)
    text += "\n  " + each.code + std::string(width + 2 - each.code.size(), ' ') + each.meaning;
  app.footer(text);
}

std::string man_page(const std::vector<const CLI::App*>& commands) {
  const CLI::App& app = *commands.back();
  const std::string name = joined(commands, "-");
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string description = app.get_description();
  while (description.ends_with('.')) description.pop_back();
  return ".TH " + escaped(title) + " 1 \"\" \"polyxeus " + version + "\" \"polyxeus\"\n" +
         ".SH NAME\n" + escaped(name) + " \\- " + escaped(description) + "\n" + synopsis(commands) +
         arguments_section(app) + commands_section(commands) + options_section(app) +
         exit_codes_section(commands.front()->get_footer()) + notes_section(app.get_footer()) +
         see_also(commands);
}

Result<void> write_man_pages(const CLI::App& app, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error{ErrorKind::system, "cannot make " + folder.string() + ": " + error.message()};
  std::vector<std::string> failed;
  write_page({&app}, folder, failed);
  if (!failed.empty()) return Error{ErrorKind::system, "cannot write " + failed.front()};
  return {};
}

}  // namespace px::program
