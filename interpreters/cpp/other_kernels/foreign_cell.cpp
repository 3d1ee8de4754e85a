#include "interpreters/cpp/other_kernels/foreign_cell.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

using Action = ForeignCell::Action;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trim(text)).empty()) {
    const auto end = std::find_if(text.begin(), text.end(), is_blank);
    words.emplace_back(text.begin(), end);
    text.remove_prefix(words.back().size());
  }
  return words;
}

/// Of a name that can be looked up: std::vector, px::array<int, 2>, ~x.
bool is_name(std::string_view text) {
  return !text.empty() && text.find("::::") == text.npos &&
         std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char each) {
           return std::isalnum(each) != 0 || each == '_' || each == ':' || each == '.';
         });
}

/// The name of `?name`, `name?` and `??name`.
std::optional<std::string> asked_name(std::string_view cell) {
  std::string_view name = trim(cell);
  if (name.find('\n') != name.npos || name.find('?') == name.npos) return std::nullopt;
  while (name.starts_with('?')) name.remove_prefix(1);
  while (name.ends_with('?')) name.remove_suffix(1);
  name = trim(name);
  if (!is_name(name)) return std::nullopt;
  return std::string(name);
}

std::string as_literal(std::string_view text) {
  std::string literal = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') literal += '\\';
    literal += each;
  }
  return literal + "\"";
}

struct CommandAnswer {
  std::string_view command, instead;
};
constexpr CommandAnswer answers[] = {
    {"q", "end the session with the notebook's Kernel menu (on engines: pxcluster stop)"},
    {"x", "write `#include \"file\"` and call its function"},
    {"U", "run the cell again with a new definition: it replaces the old one"},
    {"undo", "run the cell again with a new definition: it replaces the old one"},
    {"O", "write `%flags -O2` (or -O0 ... -O3) in the first cell after a restart"},
    {"class", "write `?name`"},
    {"typedef", "write `?name`"},
    {"namespace", "write `?name`"},
    {"g", "write `px::variables()`"},
    {"rawInput", "cells take definitions and statements in any order"},
    {"!", "write `!command`"}};

class ForeignCellReader {
 public:
  explicit ForeignCellReader(std::string_view cell) : cell_(cell) { made_.code = cell; }

  Result<ForeignCell> run() {
    if (const auto name = asked_name(cell_)) {
      made_.action = Action::describe;
      made_.arguments = {*name};
      made_.code.clear();
      return std::move(made_);
    }
    bool is_head = true;  // before all code
    for (std::size_t begin = 0; begin < made_.code.size(); ++number_) {
      std::size_t end = std::min(made_.code.find('\n', begin), made_.code.size());
      const std::string line(trim(std::string_view(made_.code).substr(begin, end - begin)));
      std::optional<std::string> other;
      if (is_head && (line.starts_with("%%"))) {
        if (const auto done = cell_command(line, end)) return *done;
      } else if (is_head && line.starts_with('!')) {
        other =
            "::px_cell_run_command(" + as_literal(trim(std::string_view(line).substr(1))) + ");";
      } else if (is_head && line.size() > 1 && line[0] == '.' &&
                 (std::isalpha(static_cast<unsigned char>(line[1])) != 0 || line[1] == '!')) {
        auto replaced = dot_command(line);
        if (!replaced) return replaced.error();
        if (made_.action == Action::help) return std::move(made_);
        other = *replaced;
      } else if (line.starts_with("#pragma")) {
        other = pragma(line);
      }
      if (other) {
        made_.code.replace(begin, end - begin, *other);
        end = begin + other->size();
      }
      is_head = is_head && (other || line.empty() || line[0] == '%' || line.starts_with("//"));
      begin = end + 1;
    }
    return std::move(made_);
  }

 private:
  /// %%file and %%executable; nothing for all other magics.
  std::optional<Result<ForeignCell>> cell_command(const std::string& line, std::size_t end) {
    std::vector<std::string> words = words_of(std::string_view(line).substr(2));
    const std::string name = words.empty() ? "" : words.front();
    const bool is_file = name == "file" || name == "writefile";
    if (!is_file && name != "executable") return std::nullopt;
    words.erase(words.begin());
    if (is_file && !words.empty() && (words[0] == "-a" || words[0] == "--append")) {
      made_.appends = true;
      words.erase(words.begin());
    }
    if (!is_file && words.size() > 1 && words[1] == "--") words.erase(words.begin() + 1);
    if (words.empty() || (is_file && words.size() > 1))
      return Result<ForeignCell>(error_in_line(
          number_, is_file ? "%%file takes one name: %%file [-a] name"
                           : "%%executable needs a name: %%executable name [-- flags]"));
    made_.action = is_file ? Action::write_file : Action::make_program;
    made_.arguments = std::move(words);
    if (is_file)
      made_.code = made_.code.substr(std::min(end + 1, made_.code.size()));
    else
      made_.code = std::string(static_cast<std::size_t>(number_), '\n') +
                   made_.code.substr(std::min(end + 1, made_.code.size()));
    return Result<ForeignCell>(std::move(made_));
  }

  /// What stands in the place of the line.
  Result<std::string> dot_command(const std::string& line) {
    const auto end = std::find_if(line.begin() + 1, line.end(),
                                  [](unsigned char each) { return std::isalpha(each) == 0; });
    const std::string command(line.begin() + 1, end);
    const std::string argument(
        trim(std::string_view(line).substr(static_cast<std::size_t>(end - line.begin()))));
    if (command == "help" || command == "h") {
      made_.action = Action::help;
      return std::string();
    }
    if (command == "L" && !argument.empty()) return load(argument);
    if (command == "I" && !argument.empty()) {
      add(DirectiveKind::include_folder, argument);
      return std::string();
    }
    const std::string instead_of = command.empty() ? "!" : command;
    const auto* const found =
        std::find_if(std::begin(answers), std::end(answers),
                     [&](const CommandAnswer& each) { return each.command == instead_of; });
    const std::string what = "." + instead_of + " is a command of cling; ";
    if (found != std::end(answers))
      return error_in_line(number_, what + std::string(found->instead));
    return error_in_line(number_, what + "C++ cells have .L, .I and .help");
  }

  std::string load(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    const bool is_source = dot != name.npos && name.find(".so") == name.npos;
    if (is_source) return "#include " + as_literal(name);
    add(DirectiveKind::library, name);
    return "";
  }

  void add(DirectiveKind kind, const std::string& argument) {
    made_.directives.push_back({kind, {argument}, number_});
  }

  /// Of cling; nothing for all others.
  std::optional<std::string> pragma(const std::string& line) {
    std::string_view rest = trim(std::string_view(line).substr(7));
    if (!rest.starts_with("cling")) return std::nullopt;
    rest = trim(rest.substr(5));
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    const bool has_argument = open != rest.npos && close > open;
    const std::string argument(has_argument ? rest.substr(open + 1, close - open - 1) : "");
    if (has_argument && rest.starts_with("load"))
      add(DirectiveKind::library, argument);
    else if (has_argument && rest.starts_with("add_include_path"))
      add(DirectiveKind::include_folder, argument);
    else if (has_argument && rest.starts_with("add_library_path"))
      add(DirectiveKind::library_folder, argument);
    else if (rest.starts_with("optimize"))
      made_.notes.push_back(
          "#pragma cling optimize is ignored: cells are compiled with -O2; `%flags "
          "-O0` (... -O3) in the first cell changes that for the session.");
    else
      made_.notes.push_back("`" + line +
                            "` is ignored: C++ cells support load(\"name\"), "
                            "add_include_path(\"folder\") and add_library_path(\"folder\").");
    return std::string();
  }

  std::string_view cell_;
  ForeignCell made_;
  int number_ = 1;
};

}  // namespace

bool begins_with_command(std::string_view cell) {
  return trim(cell).starts_with('!');
}

Result<ForeignCell> read_foreign_cell(std::string_view cell) {
  return ForeignCellReader(cell).run();
}

bool is_foreign_as_a_whole(std::string_view cell) {
  const Result<ForeignCell> foreign = read_foreign_cell(cell);
  return foreign && (foreign->action != Action::run ||
                     (begins_with_command(cell) && cell.find('\n') == cell.npos));
}

std::string help_text() {
  return "A cell contains C++: statements and definitions in any order. The value of a last\n"
         "expression without a semicolon is shown.\n"
         "\n"
         "?name               what it is, and where it is documented\n"
         "!command            runs a command in a shell\n"
         "%inc folder         adds a folder with headers for #include (also .I folder)\n"
         "%lib name           loads a library (also .L libname.so)\n"
         "%pkg name           does both for a package that pkg-config knows\n"
         "%flags -O3 ...      flags of the compiler, in the first cell\n"
         "%pch <header>       precompiles a header, in the first cell\n"
         "%time, %timeit      measure the rest of the line, or %%time, %%timeit the cell\n"
         "%%file [-a] name    writes the rest of the cell to a file (also %%writefile)\n"
         "%%executable name [-- flags]\n"
         "                    makes a program of this cell and what earlier cells define\n"
         "px::display(x)      shows a value before the cell ends\n"
         "px::variables()     the variables of the session\n";
}

}  // namespace px::cpp
