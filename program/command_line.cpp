#include "program/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <iostream>
#include <memory>

#include "program/help_formatter.hpp"
#include "program/man_page.hpp"
#include "wire/json.hpp"
#include "wire/nearest_name.hpp"

namespace px::program {
namespace {

/// Marks the options of ipyparallel that add_options_of_peer() adds; the help does not show them.
constexpr const char* no_effect = "an option of ipyparallel without effect";

/// Before the new spelling in the description of options that mark_as_old() marks.
constexpr std::string_view old_spelling_of = "an old spelling of ";

/// The arguments as CLI11 takes them: the last one first, and `--name=` as `--name` and an empty
/// text, as CLI11 takes the next argument for the value otherwise.
std::vector<std::string> reversed(const std::vector<std::string>& words) {
  std::vector<std::string> arguments;
  bool is_option = true;
  for (std::string text : words) {
    if (text == "--") is_option = false;
    const bool is_emptied =
        is_option && text.starts_with("--") && text.find('=') == text.size() - 1;
    if (is_emptied) text.pop_back();
    arguments.push_back(std::move(text));
    if (is_emptied) arguments.emplace_back();
  }
  std::reverse(arguments.begin(), arguments.end());
  return arguments;
}

/// A command and all commands below it.
std::vector<CLI::App*> all_commands(CLI::App& app) {
  std::vector<CLI::App*> commands{&app};
  for (CLI::App* const below : app.get_subcommands([](CLI::App*) { return true; }))
    for (CLI::App* const each : all_commands(*below)) commands.push_back(each);
  return commands;
}

/// The command that was given, and those that it is below: "pxcluster", "profile", "create".
std::vector<const CLI::App*> given_commands(const CLI::App& app) {
  std::vector<const CLI::App*> commands{&app};
  while (!commands.back()->get_subcommands().empty())
    commands.push_back(commands.back()->get_subcommands().front());
  return commands;
}

std::string called(const std::vector<const CLI::App*>& commands) {
  std::string text;
  for (const CLI::App* const command : commands)
    text += (text.empty() ? "" : " ") + command->get_name();
  return text;
}

/// "--name" of "--name=value".
std::string name_of_option(const std::string& word) {
  return word.substr(0, word.find('='));
}

bool looks_like_option(const std::string& word) {
  return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1]));
}

/// Adds those options of `words` that the peer knows and the command does not. Only these: all of
/// them would take longer than the rest of the parse.
void add_options_of_peer(CLI::App& command, const std::vector<std::string>& words,
                         IpyparallelProgram peer) {
  for (const std::string& word : words) {
    if (word == "--") return;
    if (!word.starts_with("--")) continue;
    const std::string name = name_of_option(word);
    const PeerOption kind = option_of_peer(peer, std::string_view(name).substr(2));
    if (kind == PeerOption::unknown || command.get_option_no_throw(name)) continue;
    CLI::Option* const option = kind == PeerOption::flag ? command.add_flag(name)
                                                         : command.add_option(name)->expected(0, 1);
    option->description(no_effect)->group("");
  }
}

/// The long names, without dashes, of the options that the help shows.
std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* const option : command.get_options())
    if (!option->get_group().empty())
      names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const each : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!each->get_group().empty()) names.push_back(each->get_name());
  return names;
}

bool has_arguments(const CLI::App& command) {
  for (const CLI::Option* const option : command.get_options())
    if (option->get_positional()) return true;
  return false;
}

/// The option that somebody meant who wrote `name`, with its dashes. What ipyparallel calls
/// --IPController.work_dir is our --work-dir.
std::optional<std::string> nearest_option(const std::string& name, const CLI::App& command) {
  const std::string bare = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  const std::vector<std::string> names = long_names(command);
  const auto found = nearest_name(bare, names);
  std::string trait = bare.substr(bare.find('.') + 1);
  std::replace(trait.begin(), trait.end(), '_', '-');
  const bool is_typo = found && edit_distance(bare, *found) <= 2;
  if (!is_typo && trait != bare && std::find(names.begin(), names.end(), trait) != names.end())
    return "--" + trait;
  return found ? std::optional("--" + *found) : std::nullopt;
}

/// commands  down to the one that does not know the option; all  down to the last one.
std::string unknown_option(const std::string& word, const std::vector<const CLI::App*>& commands,
                           const std::vector<const CLI::App*>& all) {
  const std::string name = name_of_option(word);
  if (const auto nearest = nearest_option(name, *commands.back()))
    return "unknown option " + name + "; did you mean " + *nearest + "?";
  if (const auto nearest = nearest_option(name, *all.back()))
    return "unknown option " + name + "; did you mean `" + called(all) + " " + *nearest + "`?";
  return "unknown option " + name + "; `" + called(commands) + " --help` lists the options";
}

/// The command that begins with the word, where one does alone; else the nearest one.
std::optional<std::string> meant_command(const std::string& word,
                                         const std::vector<std::string>& names) {
  std::vector<std::string> longer;
  for (const std::string& name : names)
    if (name.starts_with(word)) longer.push_back(name);
  return longer.size() == 1 ? longer.front() : nearest_name(word, names);
}

std::string unknown_argument(const std::string& word,
                             const std::vector<const CLI::App*>& commands) {
  const CLI::App& command = *commands.back();
  if (const auto names = command_names(command); !names.empty()) {
    const auto nearest = meant_command(word, names);
    return "unknown command '" + word + "'" +
           (nearest ? "; did you mean " + *nearest + "?"
                    : "; `" + called(commands) + " --help` lists the commands");
  }
  if (has_arguments(command))
    return "`" + called(commands) + "` takes no further argument '" + word +
           "'; put an argument that contains blanks in quotes";
  const auto names = long_names(command);
  const bool is_number = std::all_of(
      word.begin(), word.end(), [](unsigned char letter) { return std::isdigit(letter) != 0; });
  const bool has_n = std::find(names.begin(), names.end(), "n") != names.end();
  const auto nearest = nearest_name(word, names);
  return "`" + called(commands) + "` takes no argument '" + word + "'" +
         (is_number && has_n ? "; did you mean -n " + word + "?"
          : nearest          ? "; did you mean --" + *nearest + "?"
                             : "; `" + called(commands) + " --help` lists the options");
}

std::string missing_command(const std::vector<const CLI::App*>& commands) {
  std::string list;
  for (const std::string& name : command_names(*commands.back()))
    list += (list.empty() ? "" : ", ") + name;
  return "`" + called(commands) + "` needs a command: " + list;
}

/// "--n: takes ..." becomes "-n takes ...": the checks of value_checks.hpp make this a sentence.
std::string about_value(std::string what) {
  const std::size_t colon = what.find(": takes");
  if (colon == std::string::npos) return what;
  what.erase(colon, 1);
  if (what.starts_with("--") && colon == 3) what.erase(0, 1);
  return what;
}

/// "-f", "--keep": CLI::Option::get_name() is empty for an option that the help does not show.
std::string name_of_hidden(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front()
                                     : "--" + option.get_lnames().front();
}

/// The options marked by mark_as_old() that were given.
std::vector<const CLI::Option*> given_old_options(const CLI::App& app) {
  std::vector<const CLI::Option*> found;
  for (const CLI::App* const command : given_commands(app))
    for (const CLI::Option* const option : command->get_options())
      if (option->count() > 0 && option->get_description().starts_with(old_spelling_of))
        found.push_back(option);
  return found;
}

/// CLI11's sentence, which begins with the option's name: but for hidden options, which get it
/// here.
std::string with_hidden_name(std::string what, const CLI::App& app) {
  const bool has_name = !what.starts_with(':') && !what.starts_with(' ');
  const auto old = given_old_options(app);
  return has_name || old.empty() ? what : name_of_hidden(*old.front()) + what;
}

/// What CLI11 finds wrong with the words that it understands.
std::string describe_problem(const CLI::ParseError& problem, const CLI::App& app) {
  const std::string what = with_hidden_name(problem.what(), app);
  const auto commands = given_commands(app);
  if (problem.get_name() == "RequiredError") {
    if (what == CLI::RequiredError::Subcommand(1).what()) return missing_command(commands);
    return "`" + called(commands) + "` needs the argument " + what.substr(0, what.find(" is"));
  }
  if (problem.get_name() == "ArgumentMismatch" && what.find(" missing") != std::string::npos)
    return what.substr(0, what.find(':')) + " needs a value";
  if (problem.get_name() == "ExcludesError") {
    const std::string middle = " excludes ";
    const std::size_t at = what.find(middle);
    if (at != std::string::npos)
      return what.substr(0, at) + " cannot be combined with " + what.substr(at + middle.size());
  }
  const std::string conversion = "Could not convert: ";
  if (const std::size_t equals = what.find(" = "); what.starts_with(conversion))
    return what.substr(conversion.size(), equals - conversion.size()) + " cannot be '" +
           what.substr(std::min(equals + 3, what.size())) + "'";
  return about_value(what);
}

/// The folder of `--man-pages=FOLDER`, which is for whoever packages the program: alone on the
/// command line, and in no help.
std::optional<std::string> folder_of_man_pages(const std::vector<std::string>& words) {
  const std::string option = "--man-pages=";
  if (words.size() != 1 || !words.front().starts_with(option)) return std::nullopt;
  return words.front().substr(option.size());
}

bool wants_json(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") break;
    if (word == "--json") return true;
  }
  return false;
}

std::string name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return "bad_input";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::overloaded:
      return "overloaded";
    case ErrorKind::lost_peer:
      return "lost_peer";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::system:
      return "system";
  }
  return "";
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, const char* const* argv,
                                      const AcceptedWords& accepted) {
  if (app.get_name().empty() && argc > 0) app.name(argv[0]);
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (const auto folder = folder_of_man_pages(words)) {
    const Result<void> written = write_man_pages(app, *folder);
    if (written) return 0;
    std::cerr << app.get_name() << ": error: " << written.error().what << std::endl;
    return 1;
  }
  const auto formatter = std::make_shared<HelpFormatter>();
  for (CLI::App* const command : all_commands(app)) {
    command->formatter(formatter);
    command->allow_extras();  // find_unknown_word() says more about them than CLI11
    add_options_of_peer(*command, words, accepted.peer);
  }
  std::optional<std::string> wrong;
  try {
    app.parse(reversed(words));
  } catch (const CLI::Success& help) {
    app.exit(help, std::cout, std::cerr);
    return 0;
  } catch (const CLI::ParseError& problem) {
    wrong = describe_problem(problem, app);
  }
  // A misspelled command is the cause of the command that CLI11 misses.
  if (auto unknown = find_unknown_word(app, accepted)) wrong = std::move(unknown);
  if (!wrong) return std::nullopt;
  std::cerr << app.get_name() << ": error: " << *wrong << std::endl;
  if (wants_json(words)) std::cout << error_as_json({ErrorKind::bad_input, *wrong}) << std::endl;
  return exit_usage;
}

std::optional<std::string> find_unknown_word(const CLI::App& app, const AcceptedWords& accepted) {
  const std::vector<const CLI::App*> all = given_commands(app);
  std::vector<const CLI::App*> above;
  for (const CLI::App* const command : all) {
    above.push_back(command);
    for (const std::string& word : command->remaining()) {
      if (word == "--") continue;
      if (accepted.is_passed_on && accepted.is_passed_on(word)) continue;
      return looks_like_option(word) ? unknown_option(word, above, all)
                                     : unknown_argument(word, above);
    }
  }
  return std::nullopt;
}

std::vector<std::string> options_without_effect(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : given_commands(app))
    for (const CLI::Option* const option : command->get_options())
      if (option->count() > 0 && option->get_description() == no_effect)
        names.push_back("--" + option->get_lnames().front());
  return names;
}

std::string warning_of_options_without_effect(const CLI::App& app) {
  std::string list;
  for (const std::string& name : options_without_effect(app))
    list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "" : "options of ipyparallel that have no effect here: " + list;
}

void mark_as_old(CLI::Option& option, const std::string& now) {
  option.description(std::string(old_spelling_of) + now)->group("");
}

std::vector<std::string> old_spellings(const CLI::App& app) {
  std::vector<std::string> sentences;
  for (const CLI::Option* const option : given_old_options(app))
    sentences.push_back(name_of_hidden(*option) + " is an old spelling; write " +
                        option->get_description().substr(old_spelling_of.size()));
  return sentences;
}

std::string error_as_json(const Error& error) {
  return Json{{"error", {{"ename", name_of(error.kind)}, {"evalue", error.what}}}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace px::program
