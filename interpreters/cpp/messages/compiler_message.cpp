#include "interpreters/cpp/messages/compiler_message.hpp"

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
struct MessageGroup {
  CompilerMessage main;
  std::vector<CompilerMessage> notes = {};
};

bool is_in_cell(const CompilerMessage& message) {
  return message.line > 0 && is_name_of_cell(message.file) &&
         !message.file.starts_with("input_line_");
}

/// Of what polyxeus puts around or before cells.
bool is_internal(const CompilerMessage& message) {
  const std::size_t slash = message.file.rfind('/');
  const std::string name =
      slash == message.file.npos ? message.file : message.file.substr(slash + 1);
  return name == "prelude.hpp" || name.starts_with("input_line_") ||
         message.message.find("px::cell::") != message.message.npos ||
         message.message.find("px_run_") != message.message.npos ||
         message.message.find("px_probe") != message.message.npos;
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

std::vector<MessageGroup> groups_of(const std::vector<CompilerMessage>& messages) {
  std::vector<MessageGroup> groups;
  for (CompilerMessage each : messages) {
    each.text = without_insertions(each.text);
    if (each.level != CompilerMessage::Severity::note)
      groups.push_back({std::move(each)});
    else if (!groups.empty())
      groups.back().notes.push_back(std::move(each));
  }
  const auto is_mended = [](const MessageGroup& group) { return group.main.is_of_capture; };
  const bool has_others = std::any_of(groups.begin(), groups.end(), [&](const MessageGroup& group) {
    return group.main.level == CompilerMessage::Severity::error && !is_mended(group);
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

std::string headline(const CompilerMessage& place, const CompilerMessage& what) {
  const bool is_error = what.level == CompilerMessage::Severity::error;
  return bold + place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) +
         ": " + plain + (is_error ? std::string(red) + "error: " : "\x1b[0;1;35mwarning: ") +
         plain + bold + plain_words(what.message) + plain + "\n";
}

/// The note in a cell that tells how the compiler came to an error elsewhere; null for none.
const CompilerMessage* cause_in_cell(const MessageGroup& group) {
  const CompilerMessage* found = nullptr;
  for (const CompilerMessage& note : group.notes) {
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
std::string code_of(const CompilerMessage& message) {
  static const std::regex colour("\x1b\\[[0-9;]*m");
  const std::string lines = std::regex_replace(code_lines(message.text), colour, "");
  const std::size_t bar = lines.find(" | ");
  if (bar == lines.npos) return "";
  return lines.substr(bar + 3, lines.find('\n', bar) - bar - 3);
}

std::string hint_of(const CompilerMessage& message, const HasHeader& has_header) {
  const std::string code = code_of(message);
  const bool is_error = message.level == CompilerMessage::Severity::error && is_in_cell(message);
  const std::string head = is_error ? hint_for_head(code, message.column) : "";
  return head.empty() ? hint_for(message.message, message.line, code, has_header) : head;
}

}  // namespace

std::string compose(const std::vector<CompilerMessage>& messages, const HasHeader& has_header) {
  std::string result;
  std::vector<std::string> hints;
  for (const MessageGroup& group : groups_of(messages)) {
    const CompilerMessage* cause = is_in_cell(group.main) ? nullptr : cause_in_cell(group);
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
    for (const CompilerMessage& note : group.notes)
      if (&note != cause && !is_internal(note)) result += plain_words(without_includes(note.text));
  }
  return result;
}

}  // namespace px::cpp
