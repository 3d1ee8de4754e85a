#include "program/config_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "os/private_file.hpp"
#include "os/run_command.hpp"
#include "program/find_python.hpp"

namespace px::program {
namespace {

/// Runs the file sys.argv[1] as traitlets does, and prints what it sets as JSON. Exit code 3: this
/// Python has no traitlets; 4: the file is wrong, said on stderr in one line.
constexpr const char* reader = R"(
import json, os, sys

try:
    from traitlets.config.loader import LazyConfigValue, PyFileConfigLoader
except ImportError:
    sys.exit(3)

answer = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what the file prints is no part of the answer
path = os.path.abspath(sys.argv[1])


def plain(value):
    if isinstance(value, LazyConfigValue):
        value = value.get_value({} if value._update else [])
    if isinstance(value, type):
        return f"{value.__module__}.{value.__qualname__}"
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(each) for each in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError


def line_of(problem):
    if isinstance(problem, SyntaxError) and problem.filename == path:
        return problem.lineno
    line, trace = None, problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


try:
    config = PyFileConfigLoader(os.path.basename(path), os.path.dirname(path)).load_config()
except BaseException as problem:
    line = line_of(problem)
    place = "" if line is None else f"line {line}: "
    what = getattr(problem, "msg", None) or str(problem)
    sys.stderr.write("\n" + f"{place}{type(problem).__name__}: {what}".replace("\n", " "))
    sys.exit(4)
settings, unusable = {}, []
for section, traits in config.items():
    if not isinstance(traits, dict):
        unusable.append(section)
        continue
    for name, value in traits.items():
        try:
            settings.setdefault(section, {})[name] = plain(value)
        except TypeError:
            unusable.append(f"{section}.{name}")
json.dump({"settings": settings, "unusable": unusable}, answer)
)";

constexpr int has_no_traitlets = 3;

Error wrong_file(const std::filesystem::path& path, const std::string& what) {
  return {ErrorKind::bad_input, path.string() + ": " + what};
}

/// The last line of what a program wrote.
std::string last_line(const std::string& text) {
  return text.substr(text.find_last_of('\n') + 1);
}

Result<ConfigFile> read_answer(const std::filesystem::path& path, const std::string& text) {
  const Result<Json> answer = unpack(Packer::json, text);
  if (!answer) return wrong_file(path, "what it sets cannot be read: " + answer.error().what);
  ConfigFile file{path, answer->at("settings"), {}};
  for (const Json& name : answer->at("unusable")) file.unusable.push_back(name);
  return file;
}

/// The file as this Python runs it; nothing: it has no traitlets.
Result<std::optional<ConfigFile>> run_by(const std::string& python,
                                         const std::filesystem::path& path) {
  const auto ran = os::run_command({.argv = {python, "-c", reader, path.string()}});
  if (!ran) return wrong_file(path, ran.error().what);
  if (ran->end.exit_code == has_no_traitlets) return std::optional<ConfigFile>{};
  if (ran->end.is_failure()) return wrong_file(path, last_line(ran->errors));
  auto file = read_answer(path, ran->output);
  if (!file) return file.error();
  return std::optional<ConfigFile>{std::move(*file)};
}

Result<ConfigFile> read_python(const std::filesystem::path& path, const std::string& text,
                               const std::string& program) {
  if (!sets_something(text)) return ConfigFile{path, Json::object(), {}};
  const std::filesystem::path called =
      program.find('/') == std::string::npos ? own_program() : program;
  for (const PythonCandidate& python :
       python_candidates("", process_environment(), called.parent_path().string(), is_program)) {
    auto file = run_by(python.path, path);
    if (!file) return file.error();
    if (*file) return std::move(**file);
  }
  return Error{ErrorKind::unsupported,
               "cannot read " + path.string() +
                   ": no Python with the package traitlets was found; activate the environment "
                   "that has ipython or ipykernel, or write a .json file"};
}

Result<ConfigFile> read_json(const std::filesystem::path& path, const std::string& text) {
  auto settings = unpack(Packer::json, text);
  if (!settings) return wrong_file(path, "is not a JSON object: " + settings.error().what);
  return ConfigFile{path, std::move(*settings), {}};
}

/// The text of a JSON value as an option has it; nothing for what no option can be.
std::optional<std::string> option_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (!value.is_array()) return std::nullopt;
  std::string text;
  for (const Json& item : value) {
    const auto piece = option_text(item);
    if (!piece) return std::nullopt;
    text += (text.empty() ? "" : ",") + *piece;
  }
  return text;
}

void add_arguments(std::vector<std::string>& arguments, const std::string& section,
                   const Json& traits) {
  for (const auto& [name, value] : traits.items())
    if (const auto text = option_text(value))
      arguments.push_back("--" + section + "." + name + "=" + *text);
}

std::string_view without_blanks(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

bool says_nothing(std::string_view line) {
  line = without_blanks(line);
  return line.empty() || line.starts_with('#') || line.starts_with("c = get_config()");
}

}  // namespace

bool sets_something(std::string_view python_text) {
  while (!python_text.empty()) {
    const std::size_t end = std::min(python_text.find('\n'), python_text.size());
    if (!says_nothing(python_text.substr(0, end))) return true;
    python_text.remove_prefix(std::min(end + 1, python_text.size()));
  }
  return false;
}

Result<ConfigFile> read_config_file(const std::filesystem::path& path, const std::string& program) {
  const auto text = os::read_file(path);
  if (!text) return text.error();
  if (path.extension() == ".py") return read_python(path, *text, program);
  if (path.extension() == ".json") return read_json(path, *text);
  return wrong_file(path, "a configuration file ends with .py or .json");
}

Result<std::vector<ConfigFile>> read_config_files(const std::filesystem::path& folder,
                                                  const std::string& name,
                                                  const std::string& program) {
  std::vector<ConfigFile> files;
  for (const char* const end : {"_config.py", "_config.json"}) {
    auto file = read_config_file(folder / (name + end), program);
    if (file)
      files.push_back(std::move(*file));
    else if (file.error().kind != ErrorKind::not_found)
      return file.error();
  }
  return files;
}

Result<std::vector<std::string>> config_arguments(const std::vector<ConfigFile>& files) {
  std::vector<std::string> arguments;
  for (const ConfigFile& file : files)
    for (const auto& [section, traits] : file.settings.items()) {
      if (section == "version" && !traits.is_object()) continue;
      if (!traits.is_object())
        return wrong_file(file.path, "'" + section + "' is not an object of options");
      add_arguments(arguments, section, traits);
    }
  return arguments;
}

std::string warning_of_unusable(const ConfigFile& file) {
  if (file.unusable.empty()) return "";
  return fmt::format("{}: {} cannot be used and {} ignored: not text, a number, or a list of these",
                     file.path.string(), fmt::join(file.unusable, ", "),
                     file.unusable.size() == 1 ? "is" : "are");
}

}  // namespace px::program
