#include "program/completion.hpp"

#include <fmt/format.h>

namespace px::program {
namespace {

struct Candidate {
  std::string word;         ///< "start", "--engines"
  std::string description;  ///< Up to the first line's end.
};

/// A command and what may follow it.
struct Level {
  std::vector<std::string> path;  ///< {"profile", "create"}; empty: the program itself
  std::vector<Candidate> commands, options;
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::vector<Candidate> shown_options(const CLI::App& app) {
  std::vector<Candidate> found;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames())
      if (name.find('.') == std::string::npos)
        found.push_back({"--" + name, first_line(option->get_description())});
  }
  return found;
}

std::vector<Level> levels_of(const CLI::App& app, std::vector<std::string> path = {}) {
  std::vector<Level> levels{{path, {}, shown_options(app)}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    levels.front().commands.push_back(
        {command->get_name(), first_line(command->get_description())});
    path.push_back(command->get_name());
    for (Level& below : levels_of(*command, path)) levels.push_back(std::move(below));
    path.pop_back();
  }
  return levels;
}

std::string words_of(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& each : candidates) text += (text.empty() ? "" : " ") + each.word;
  return text;
}

std::string joined(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& each : path) text += (text.empty() ? "" : " ") + each;
  return text;
}

/// In single quotes: 'it'\''s'.
std::string in_quotes(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  return result + "'";
}

std::string bash_script(const std::string& program, const std::vector<Level>& levels,
                        const OptionValues& values) {
  std::string cases, value_cases;
  for (const auto& [option, words] : values)
    value_cases += fmt::format("    {}) COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                               option, joined(words));
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)  // the longest paths first
    cases += fmt::format("    {}) commands={} options={} ;;\n",
                         level->path.empty() ? "*" : "\" " + joined(level->path) + " \"*",
                         in_quotes(words_of(level->commands)), in_quotes(words_of(level->options)));
  return fmt::format(R"(# Completion for bash: source <({0} completion bash)
_{0}() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local path=' ' each commands options
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${{COMP_WORDS[COMP_CWORD-2]}}
  case $before in
{2}  esac
  for each in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $each in -*) ;; *) path+="$each " ;; esac
  done
  case $path in
{1}  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$commands" -- "$word")) ;;
  esac
}}
complete -o default -F _{0} {0}
)",
                     program, cases, value_cases);
}

/// "start:Start a controller", for _describe: a colon within has a backslash.
std::string described(const Candidate& candidate) {
  std::string text = candidate.word + ":";
  for (const char c : candidate.description)
    text += c == ':' ? std::string("\\:") : std::string(1, c);
  return in_quotes(text);
}

std::string all_described(const std::vector<Candidate>& candidates) {
  std::string text;
  for (const Candidate& each : candidates) text += "\n        " + described(each);
  return text;
}

std::string zsh_script(const std::string& program, const std::vector<Level>& levels,
                       const OptionValues& values) {
  std::string cases, value_cases;
  for (const auto& [option, words] : values)
    value_cases += fmt::format("    {0}) compadd -- {1}; return ;;\n", option, joined(words));
  for (auto level = levels.rbegin(); level != levels.rend(); ++level)
    cases += fmt::format("    {})\n      commands=({})\n      options=({}) ;;\n",
                         level->path.empty() ? "*" : "\" " + joined(level->path) + " \"*",
                         all_described(level->commands), all_described(level->options));
  return fmt::format(R"(#compdef {0}
# Completion for zsh: source <({0} completion zsh)
_{0}() {{
  local -a commands options
  local each path_=' '
  for each in "${{(@)words[2,CURRENT-1]}}"; do
    case $each in -*) ;; *) path_+="$each " ;; esac
  done
  local option=${{words[CURRENT-1]}}
  if [[ ${{words[CURRENT]}} == --*=* ]]; then
    option=${{words[CURRENT]%%=*}}
    compset -P '*='
  fi
  case $option in
{2}  esac
  case $path_ in
{1}  esac
  if [[ ${{words[CURRENT]}} == -* ]]; then
    _describe 'option' options -o
  elif (( ${{#commands}} )); then
    _describe 'command' commands
  else
    _files
  fi
}}
compdef _{0} {0}
)",
                     program, cases, value_cases);
}

/// The condition under which fish offers what follows a command.
std::string fish_condition(const Level& level) {
  if (level.path.empty()) return "__fish_use_subcommand";
  std::string condition;
  for (const std::string& each : level.path)
    condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + each);
  for (const Candidate& below : level.commands)
    condition += "; and not __fish_seen_subcommand_from " + below.word;
  return condition;
}

std::string fish_script(const std::string& program, const std::vector<Level>& levels,
                        const OptionValues& values) {
  std::string script =
      fmt::format("# Completion for fish: {0} completion fish | source\n", program);
  for (const Level& level : levels) {
    const std::string head =
        fmt::format("complete -c {} -n {}", program, in_quotes(fish_condition(level)));
    for (const Candidate& each : level.commands)
      script += fmt::format("{} -f -a {} -d {}\n", head, each.word, in_quotes(each.description));
    for (const Candidate& each : level.options) {
      const auto known = values.find(each.word);
      script +=
          fmt::format("{} -l {}{} -d {}\n", head, each.word.substr(2),
                      known == values.end() ? "" : " -x -a " + in_quotes(joined(known->second)),
                      in_quotes(each.description));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, Shell shell, const OptionValues& values) {
  const std::vector<Level> levels = levels_of(app);
  switch (shell) {
    case Shell::bash:
      return bash_script(app.get_name(), levels, values);
    case Shell::zsh:
      return zsh_script(app.get_name(), levels, values);
    case Shell::fish:
      return fish_script(app.get_name(), levels, values);
  }
  return "";
}

}  // namespace px::program
