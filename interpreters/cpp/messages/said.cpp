#include "interpreters/cpp/messages/said.hpp"

#include <algorithm>
#include <regex>
#include <utility>

#include "interpreters/cpp/cells/cell_mistakes.hpp"
#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/messages/shown_code.hpp"

namespace px::cpp {
namespace {

constexpr const char *bold = "\x1b[1m", *red = "\x1b[0;1;31m", *cyan = "\x1b[0;1;36m",
                     *plain = "\x1b[0m";
constexpr int most_hints = 3;

/// An error or a warning, and the notes that explain it.
struct Group {
  Said main;
  std::vector<Said> notes = {};
};

bool is_in_cell(const Said& said) {
  return said.line > 0 && is_name_of_cell(said.file) && !said.file.starts_with("input_line_");
}

/// Of what polyxeus puts around or before cells.
bool is_internal(const Said& said) {
  const std::size_t slash = said.file.rfind('/');
  const std::string name = slash == said.file.npos ? said.file : said.file.substr(slash + 1);
  return name == "prelude.hpp" || name.starts_with("input_line_") ||
         said.message.find("px::cell::") != said.message.npos ||
         said.message.find("px_run_") != said.message.npos ||
         said.message.find("px_probe") != said.message.npos;
}

/// In the user's words.
std::string plain_words(std::string text) {
  static const std::regex returned(R"(void function 'px_run_\d+' should not return a value)");
  static const std::regex wrapper(R"('px_run_\d+')");
  static const std::regex spaces(R"((?:::)?\bpx::cell::(?:\w+::)*)");
  text = std::regex_replace(text, returned, stray_return);
  text = std::regex_replace(text, wrapper, "this statement");
  return std::regex_replace(text, spaces, "");
}

std::vector<Group> groups_of(const std::vector<Said>& said) {
  std::vector<Group> groups;
  for (Said each : said) {
    each.text = without_insertions(each.text);
    if (each.level != Said::Level::note)
      groups.push_back({std::move(each)});
    else if (!groups.empty())
      groups.back().notes.push_back(std::move(each));
  }
  const auto is_mended = [](const Group& group) { return group.main.is_of_capture; };
  const bool has_others = std::any_of(groups.begin(), groups.end(), [&](const Group& group) {
    return group.main.level == Said::Level::error && !is_mended(group);
  });
  if (has_others)
    groups.erase(std::remove_if(groups.begin(), groups.end(), is_mended), groups.end());
  return groups;
}

/// Without the lines that say through which headers the compiler came to a place.
std::string without_includes(const std::string& text) {
  static const std::regex line("In file included from [^\n]*:\n");
  return std::regex_replace(text, line, "");
}

/// What the text has behind its first line: the line of code and the carets.
std::string code_lines(const std::string& text) {
  const std::size_t end = text.find('\n');
  return end == text.npos ? "" : text.substr(end + 1);
}

std::string headline(const Said& place, const Said& what) {
  const bool is_error = what.level == Said::Level::error;
  return bold + place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
         ": " + plain + (is_error ? std::string(red) + "error: " : "\x1b[0;1;35mwarning: ") +
         plain + bold + plain_words(what.message) + plain + "\n";
}

/// The note in a cell that tells how the compiler came to an error elsewhere; null for none.
const Said* cause_in_cell(const Group& group) {
  const Said* found = nullptr;
  for (const Said& note : group.notes) {
    if (!is_in_cell(note)) continue;
    if (note.message.ends_with("requested here")) return &note;
    if (!found) found = &note;
  }
  return found;
}

/// The text of an error that is not in a cell, as what explains it.
std::string as_note(const std::string& text) {
  static const std::regex error("(\x1b\\[0;1;31m)?(fatal )?error: ");
  return std::regex_replace(text, error,
                            std::string(cyan) + "note: ", std::regex_constants::format_first_only);
}

/// The line of code in the text of a diagnostic: "    3 | x = 5;".
std::string code_of(const Said& said) {
  static const std::regex colour("\x1b\\[[0-9;]*m");
  const std::string lines = std::regex_replace(code_lines(said.text), colour, "");
  const std::size_t bar = lines.find(" | ");
  if (bar == lines.npos) return "";
  return lines.substr(bar + 3, lines.find('\n', bar) - bar - 3);
}

std::string hint_of(const Said& said, const HasHeader& has_header) {
  const std::string code = code_of(said);
  const bool is_error = said.level == Said::Level::error && is_in_cell(said);
  const std::string head = is_error ? hint_for_head(code, said.column) : "";
  return head.empty() ? hint_for(said.message, said.line, code, has_header) : head;
}

}  // namespace

std::string compose(const std::vector<Said>& said, const HasHeader& has_header) {
  std::string result;
  std::vector<std::string> hints;
  for (const Group& group : groups_of(said)) {
    const Said* cause = is_in_cell(group.main) ? nullptr : cause_in_cell(group);
    if (cause) result += headline(*cause, group.main) + code_lines(cause->text);
    if (cause && !is_internal(group.main))
      result += plain_words(as_note(without_includes(group.main.text)));
    else if (!cause)
      result += plain_words(without_includes(group.main.text));
    const std::string hint = hint_of(group.main, has_header);
    const bool is_new = std::find(hints.begin(), hints.end(), hint) == hints.end();
    if (!hint.empty() && is_new && hints.size() < most_hints) {
      hints.push_back(hint);
      result += std::string(cyan) + "hint: " + plain + hint + "\n";
    }
    for (const Said& note : group.notes)
      if (&note != cause && !is_internal(note)) result += plain_words(without_includes(note.text));
  }
  return result;
}

}  // namespace px::cpp
