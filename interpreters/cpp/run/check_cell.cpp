// CppSession checks a cell: in forked children, with more room for it each time, until it compiles.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "interpreters/cpp/cells/cell_mistakes.hpp"
#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/compile/changed_headers.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/run/cell_errors.hpp"
#include "interpreters/cpp/run/session_state.hpp"

namespace px::cpp {
namespace {

constexpr int max_check_rounds = 12;   // each one makes room for more of what a cell redefines
constexpr int max_header_rounds = 64;  // how deep headers that changed may include each other

std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '"' || c == '\\' || c == '\n' ? ' ' : c;
  return text;
}

bool has_include(const std::string& code) {
  const auto lines = lines_of(code);
  return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    return begin != std::string::npos && line[begin] == '#' &&
           line.compare(begin, 6, "#line ") != 0;
  });
}

std::optional<std::string> text_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

/// Which edits of a cell's text are tried: fewer where its other parts do not agree with one.
enum class Editing { all, no_marks, none };

std::vector<TextEdit> edits_of(const CheckReport& report, bool is_ok, Editing editing) {
  if (editing == Editing::none) return {};
  std::vector<TextEdit> edits;
  if (is_ok)
    edits = report.privates;
  else if (editing == Editing::all)
    edits = report.redefinition.marks;
  edits.insert(edits.end(), report.captures.begin(), report.captures.end());
  return edits;
}

}  // namespace

/// Checks again and again, with more room for what the cell defines, until it compiles or nothing
/// more can be done.
CppSession::State::Plan CppSession::State::plan(const std::string& code, const std::string& name) {
  Plan result{code, name, {"#line 1 \"" + quoted(name) + "\"\n" + name_unnamed_namespaces(code)}};
  result.has_include = has_include(code);
  const FindMacro find_macro = [this](const std::string& each) { return macro(each); };
  if (const auto mistake = find_mistake(code, find_macro)) {
    result.outcome = compile_error(diagnostic_of(*mistake, code, quoted(name)));
    return result;
  }
  ++version;
  warnings.clear();
  const std::vector<TextEdit> marks = renew_headers(result);
  const SourceText as_written = result.source;
  bool is_edited = !marks.empty();
  result.source = apply_edits(as_written, marks);
  const std::set<std::string> none;
  const std::set<std::string>* to_mark = mentions_hidden_name(code) ? &hidden_names : &none;
  std::optional<SourceText> compiled;  // the text that compiled, before what is private was shared
  Editing editing = Editing::all;
  for (int round = 0; round < max_check_rounds; ++round) {
    const CheckReport report =
        check_in_child(*compiler, result.source, result.replaced, *to_mark, version);
    if (leave_header_code(report.changes_header)) continue;  // what it spared is checked now
    result.outcome = outcome_of(report, compiler->limits());
    if (report.kind == CheckResult::crashed && !to_mark->empty()) {
      if (foresee(result)) is_edited = true;
      to_mark = &none;
      continue;
    }
    result.late = report.late;
    warnings = without_colours(name_lines_of_cells(report.said));
    const bool is_ok = result.outcome.is_ok();
    const std::vector<TextEdit> edits = edits_of(report, is_ok, editing);
    const bool has_more_room = result.replaced.add(report.redefinition.replaced);
    if (!report.foreseen.empty() && !has_more_room) {
      result.source = apply_edits(result.source, report.foreseen);
      is_edited = true;
      to_mark = &none;
      continue;
    }
    if (!edits.empty() && (has_more_room || is_ok || !report.captures.empty())) {
      if (is_ok) compiled = result.source;
      result.source = apply_edits(result.source, edits);
      is_edited = true;
    } else if (report.kind == CheckResult::rejected && is_edited && !has_more_room) {
      editing = compiled || editing == Editing::no_marks ? Editing::none : Editing::no_marks;
      result.source = compiled.value_or(as_written);
      is_edited = false;
    } else if (!has_more_room) {
      return result;
    }
  }
  return result;
}

/// Makes room and marks before the cell is compiled. Returns whether it made marks.
bool CppSession::State::foresee(Plan& plan) {
  bool has_more = true, has_marks = false;
  for (int round = 0; has_more && round < max_check_rounds; ++round) {
    const Redefinition foreseen =
        foresee_in_child(*compiler, plan.source, plan.replaced, hidden_names, version);
    has_more = plan.replaced.add(foreseen.replaced);
    plan.source = apply_edits(plan.source, foreseen.marks);
    has_marks = has_marks || !foreseen.marks.empty();
  }
  return has_marks;
}

/// Lets the cell include new versions of headers that have changed. Returns marks for what these
/// define.
std::vector<TextEdit> CppSession::State::renew_headers(Plan& plan) {
  if (headers.is_empty() || !plan.has_include) return {};
  for (int round = 0; round < max_header_rounds; ++round) {
    const ReadReport report = read_in_child(*compiler, plan.source, plan.replaced, version);
    const auto newer = headers.newer(report.inclusions, text_of_file);
    std::vector<TextEdit> edits;
    for (const Inclusion& each : report.inclusions) {
      const auto found = newer.find(each.path);
      if (found == newer.end() || !(each.in.empty() || plan.source.headers.count(each.in)))
        continue;
      const std::string path =
          !found->second.version.empty() ? found->second.version : version_path(each.path, version);
      edits.push_back({each.offset, each.length, "\"" + path + "\"", each.in});
    }
    if (edits.empty()) return report.marks;
    plan.source = apply_edits(std::move(plan.source), edits);
    for (const auto& [header, what] : newer)
      if (what.version.empty()) make_header(plan, header, what.has_changed);
  }
  return {};
}

/// Makes a version of what the file is now, once for each cell.
void CppSession::State::make_header(Plan& plan, const std::string& header, bool has_changed) {
  const std::string path = version_path(header, version);
  if (plan.source.headers.count(path) > 0) return;
  const std::string text = text_of_file(header).value_or("");
  plan.made[path] = stamp_of_text(text);
  plan.source.headers[path] = "#line 1 \"" + header + "\"\n" + text;
  if (!has_changed) return;
  plan.replaced.add(declarations_of_header(*compiler, header));
  // In the cell, as the version may be included more than once: its own guard must hold then.
  for (const std::string& macro : macros_of_header(*compiler, header))
    plan.source.cell = "#undef " + macro + "\n" + plan.source.cell;
}

bool CppSession::State::mentions_hidden_name(const std::string& code) const {
  if (hidden_names.empty()) return false;
  const std::vector<std::string> identifiers = identifiers_of(code);
  return std::any_of(identifiers.begin(), identifiers.end(),
                     [&](const std::string& each) { return hidden_names.count(each) > 0; });
}

}  // namespace px::cpp
