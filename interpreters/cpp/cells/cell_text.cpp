#include "interpreters/cpp/cells/cell_text.hpp"

#include <algorithm>
#include <atomic>

#include "interpreters/cpp/cells/code_statements.hpp"
#include "interpreters/cpp/cells/code_words.hpp"

namespace px::cpp {
namespace {

/// Without the blanks at both ends; comments are blanks already.
CodeRange trimmed(std::string_view masked, CodeRange range) {
  while (range.begin < range.end && is_blank(masked[range.begin])) ++range.begin;
  while (range.end > range.begin && is_blank(masked[range.end - 1])) --range.end;
  return range;
}

/// A statement of a cell, and what it says where macros are expanded.
struct Cut : CodeStatement {
  std::string text = {};
  std::string_view source = {};  ///< From where it begins.
};

void append(Cut& cut, const Cut& more) {
  cut.end = more.end;
  cut.is_ended = more.is_ended;
  cut.is_open = more.is_open;
  cut.kind = StatementKind::declaration;  // more than one: nothing may be put around them
  cut.name = {};
  cut.text += more.text;
}

/// Statements that one macro holds are one.
std::vector<Cut> cut_statements(std::string_view code, const FindMacro& find_macro) {
  const ExpandedCode expanded = expand_macros(code, find_macro);
  std::vector<Cut> cuts;
  bool is_in_macro = false;
  for (const CodeStatement& each : split_statements(expanded.text)) {
    const auto begin = expanded.begin_in_code(each.begin);
    const auto end = expanded.end_in_code(each.end);
    Cut cut{each, expanded.text.substr(each.begin, each.end - each.begin)};
    cut.end = end.value_or(code.size());
    if (begin && !is_in_macro) {
      cut.begin = *begin;
      const std::size_t name = code.find(each.name, *begin);  // of a macro it is not in the code
      cut.name = name < cut.end ? code.substr(name, each.name.size()) : std::string_view();
      cut.source = code.substr(*begin);
      cuts.push_back(std::move(cut));
    } else {
      append(cuts.back(), cut);
    }
    is_in_macro = !end;
  }
  return cuts;
}

/// A statement, or a line for the preprocessor.
struct CellPart {
  const Cut* statement = nullptr;  // null where it is a line
  std::string_view line = {};

  bool is(std::string_view name) const { return line.starts_with(name); }
};

/// Lines for the preprocessor that follow each other are one statement.
std::vector<CellPart> parts_of(const std::vector<Cut>& statements) {
  std::vector<CellPart> parts;
  for (const Cut& each : statements) {
    if (each.kind != StatementKind::directive) {
      parts.push_back({&each, {}});
      continue;
    }
    std::string_view lines = each.source.substr(0, each.end - each.begin);
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
      if (lines.starts_with('#')) parts.push_back({nullptr, lines.substr(0, end)});
      lines.remove_prefix(end);
    }
  }
  return parts;
}

/// Adds the last statement of the parts from `begin` to `end`; where they end with #endif, those of
/// each branch of its condition.
void add_last(const std::vector<CellPart>& parts, std::size_t begin, std::size_t end,
              std::vector<const Cut*>& found) {
  if (begin == end) return;
  if (parts[end - 1].statement) found.push_back(parts[end - 1].statement);
  if (!parts[end - 1].is("#endif")) return;
  int depth = 0;
  std::size_t branch_end = end - 1;
  for (std::size_t at = end - 1; at-- > begin;) {
    const bool is_condition = parts[at].is("#if");
    if (parts[at].is("#endif")) ++depth;
    if (depth == 0 && (is_condition || parts[at].is("#el"))) {
      add_last(parts, at + 1, branch_end, found);
      branch_end = at;
    }
    if (is_condition && depth-- == 0) return;
  }
}

/// With which statements the code may end, the last one first: several where it ends with #endif.
std::vector<const Cut*> last_statements(const std::vector<Cut>& statements) {
  const std::vector<CellPart> parts = parts_of(statements);
  std::vector<const Cut*> found;
  add_last(parts, 0, parts.size(), found);
  return found;
}

/// See find_tail(); one for each branch, the last one first.
std::vector<CodeRange> find_tails(std::string_view code, const FindMacro& find_macro) {
  const MaskedCode masked = mask_code(code);
  if (masked.is_open) return {};
  const std::vector<Cut> statements = cut_statements(code, find_macro);
  std::vector<CodeRange> tails;
  for (const Cut* last : last_statements(statements))
    if (last->kind == StatementKind::other && !last->is_ended && !last->is_open)
      tails.push_back(trimmed(masked.text, {last->begin, last->end}));
  return tails;
}

/// The last statement that is no empty one.
const Cut* last_statement(const std::vector<Cut>& statements) {
  for (auto each = statements.rbegin(); each != statements.rend(); ++each)
    if (each->end - each->begin > 1 || !each->is_ended) return &*each;
  return nullptr;
}

/// Where directives of the preprocessor at the head of the code end.
std::size_t end_of_directives(std::string_view code) {
  std::size_t end = 0;
  for (const Cut& each : cut_statements(code, {})) {
    if (each.kind != StatementKind::directive) break;
    end = each.end;
  }
  return end;
}

// What is inserted into a cell stands between these until with_places() is called.
constexpr std::string_view insertion_begin = "\x01\x06", insertion_end = "\x01\x05";

std::string inserted(const std::string& text) {
  return std::string(insertion_begin) + text + std::string(insertion_end);
}

/// The text with what was inserted, a mark before it, and behind it the lines and columns that the
/// code had before: the compiler names them, and shows lines as they were written.
std::string with_places(std::string_view text) {
  std::string result, blanks;  // as wide as the line so far
  int line = 1, depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(insertion_begin) || rest.starts_with(insertion_end)) {
      if (depth == 0) result += insertion_mark;
      depth += rest.starts_with(insertion_begin) ? 1 : -1;
      at += insertion_begin.size();
      const std::size_t next = text.find_first_not_of(" \t\r", at);
      const bool has_more = next != text.npos && text[next] != '\n' && text[next] != '\x01';
      if (depth == 0 && has_more) result += "\n#line " + std::to_string(line) + "\n" + blanks;
      continue;
    }
    result += text[at];
    if (depth == 0) {
      if (text[at] == '\n') {
        ++line;
        blanks.clear();
      } else {
        blanks += text[at] == '\t' ? '\t' : ' ';
      }
    }
    ++at;
  }
  return result;
}

/// The code with its last expression behind `what`; as it is where it has none.
std::string with_tail_behind(const std::string& what, const std::string& code,
                             const FindMacro& find_macro) {
  const std::vector<CodeRange> tails = find_tails(code, find_macro);
  if (tails.empty()) return statement_form(code, find_macro);
  std::string changed = code;
  for (const CodeRange& tail : tails) {
    changed.insert(tail.end, inserted(");"));
    changed.insert(tail.begin, inserted(what + ", ("));
  }
  return changed;
}

constexpr std::string_view wrapper_prefix = "px_run_";
const std::string keeper = "::px::cell::Keeper{}";  // keeps the value from the optimizer

/// A name that no other cell has.
std::string new_name() {
  static std::atomic<unsigned long> count = 0;
  return std::string(wrapper_prefix) + std::to_string(++count);
}

/// The code with the statements that pass `is_wanted` in functions.
std::string with_functions(const std::string& code, const FindMacro& find_macro,
                           bool (*is_wanted)(std::string_view masked)) {
  const std::vector<Cut> statements = cut_statements(code, find_macro);
  std::string changed = code;
  for (auto each = statements.rbegin(); each != statements.rend(); ++each) {
    const std::string_view text = each->text;
    const bool is_run = each->kind == StatementKind::block
                            ? text.substr(0, 9) != "namespace" && text.substr(0, 6) != "inline" &&
                                  text.substr(0, 6) != "extern"
                            : each->kind == StatementKind::other && !is_declaration(text);
    if (!is_run || !each->is_ended || !is_wanted(text)) continue;
    const std::string name = new_name();
    changed.insert(each->end, inserted(" } " + name + "();"));
    changed.insert(each->begin, inserted("void " + name + "() { "));
  }
  return changed;
}

/// clang 22 cannot name a lambda that stands directly in a statement of a cell, and crashes. Those
/// in initializers of variables it can.
std::string with_lambdas_in_functions(const std::string& code, const FindMacro& find_macro) {
  return with_functions(code, find_macro, has_lambda);
}

/// Whether the statement defines a variable, as far as its words tell; then it has a name.
bool defines_variable(const Cut& statement) {
  if (!statement.is_ended || statement.name.empty()) return false;
  if (statement.kind == StatementKind::other) return is_declaration(statement.text);
  if (statement.kind != StatementKind::declaration) return false;
  const std::string_view text = statement.text;
  constexpr std::string_view others[] = {"using",     "typedef", "struct",  "class",
                                         "union",     "enum",    "friend",  "extern",
                                         "namespace", "static",  "template"};
  return std::none_of(std::begin(others), std::end(others),
                      [&](std::string_view word) { return text.starts_with(word); });
}

/// The code, so that the optimizer believes that each variable may change behind its definition and
/// is looked at in the end, and that the value of each expression is needed.
std::string with_results_kept(const std::string& code, const FindMacro& find_macro) {
  const std::vector<Cut> statements = cut_statements(code, find_macro);
  std::string changed = code, names;
  for (const Cut& each : statements)
    if (defines_variable(each)) names += keeper + ", (" + std::string(each.name) + "); ";
  if (!names.empty() && statements.back().is_ended)
    changed.insert(statements.back().end, inserted(" " + names));
  for (auto each = statements.rbegin(); each != statements.rend(); ++each) {
    if (defines_variable(*each)) {
      changed.insert(each->end, inserted(" " + keeper + ", (" + std::string(each->name) + ");"));
    } else if (each->kind == StatementKind::other && each->is_ended &&
               each->end - each->begin > 1 && !is_declaration(each->text)) {
      changed.insert(each->end - 1, inserted(")"));
      changed.insert(each->begin, inserted(keeper + ", ("));
    }
  }
  return changed;
}

/// The code, and behind it what no comment swallows.
std::string followed_by(const std::string& code, const std::string& what) {
  return code + (code.find("//") == std::string::npos ? "" : "\n") + what;
}

/// The code with its tail behind `shower`, which shows it; nothing where it has no tail.
std::optional<std::string> shown_by(const std::string& shower, const std::string& code,
                                    const FindMacro& find_macro) {
  if (!find_tail(code, find_macro)) return std::nullopt;
  return with_places(
      with_lambdas_in_functions(with_tail_behind(shower, code, find_macro), find_macro));
}

}  // namespace

std::optional<CodeRange> find_tail(std::string_view code, const FindMacro& find_macro) {
  const std::vector<CodeRange> tails = find_tails(code, find_macro);
  if (tails.empty()) return std::nullopt;
  return tails.front();
}

std::optional<std::string> display_form(const std::string& code, const FindMacro& find_macro) {
  return shown_by("::px::cell::Shower{}", code, find_macro);
}

std::optional<std::string> copy_form(const std::string& code, const FindMacro& find_macro) {
  return shown_by("::px::cell::CopyShower{}", code, find_macro);
}

bool says_how_values_look(const std::string& code) {
  const std::string masked = mask_code(code).text;
  return masked.find("mime_bundle_repr") != masked.npos ||
         masked.find("operator<<") != masked.npos || masked.find("operator <<") != masked.npos ||
         masked.find("formatter<") != masked.npos;
}

bool includes_other_headers(const std::string& code) {
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::string_view line = std::string_view(code).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t at = included_at(line);
    if (at == line.npos) continue;
    const std::string_view included = line.substr(at);
    const std::string_view name = included.substr(0, included.find('>'));
    if (!included.starts_with('<') || name.find_first_of("./") != name.npos) return true;
  }
  return false;
}

std::string displays_in_edition(const std::string& code, unsigned edition) {
  if (edition == 0 || code.find("display") == code.npos) return code;
  constexpr std::string_view called = "display";
  const std::string masked = mask_code(code).text;
  std::string changed = code;
  for (std::size_t at = masked.rfind(called); at != masked.npos;
       at = at == 0 ? masked.npos : masked.rfind(called, at - 1)) {
    const std::string_view before = std::string_view(masked).substr(0, at);
    const std::string_view behind = std::string_view(masked).substr(at + called.size());
    const std::string_view space = before.ends_with("xcpp::") ? "xcpp::" : "px::";
    if (!before.ends_with(space) || (!behind.empty() && is_word_part(behind.front()))) continue;
    std::string_view outside = before.substr(0, before.size() - space.size());
    if (outside.ends_with("::")) outside.remove_suffix(2);
    if (!outside.empty() && is_word_part(outside.back())) continue;
    const std::size_t last = outside.find_last_not_of(" \t");
    if (outside.substr(0, last + 1).ends_with("using")) continue;
    changed.insert(at, inserted("cell::DisplayOf<" + std::to_string(edition) + ">::"));
  }
  return changed;
}

std::string in_edition(std::string form, unsigned edition) {
  constexpr std::string_view first = "::px::cell::Shower{}";
  if (edition == 0) return form;
  const std::string wanted = "::px::cell::ShowerOf<" + std::to_string(edition) + ">{}";
  for (std::size_t at = 0; (at = form.find(first, at)) != form.npos; at += wanted.size())
    form.replace(at, first.size(), wanted);
  return form;
}

std::string statement_form(const std::string& code, const FindMacro& find_macro) {
  const MaskedCode masked = mask_code(code);
  if (masked.is_open) return code;
  const std::vector<Cut> statements = cut_statements(code, find_macro);
  std::string changed = code;
  for (const Cut* last : last_statements(statements))
    if (!last->is_ended)
      changed.insert(trimmed(masked.text, {last->begin, last->end}).end, ";");
  return changed;
}

std::string timed_form(const std::string& code, const CellDirective& timing, bool shows_tail,
                       const FindMacro& find_macro) {
  const std::size_t begin = end_of_directives(code);
  const bool repeats = timing.kind == DirectiveKind::timeit;
  const std::string head = code.substr(0, begin);
  const std::string rest = repeats && shows_tail ? with_results_kept(code.substr(begin), find_macro)
                                                 : code.substr(begin);
  const std::string tail_prefix = repeats ? keeper : "::px::cell::Shower{}";
  const std::string body = shows_tail ? with_tail_behind(tail_prefix, rest, find_macro)
                                      : statement_form(rest, find_macro);
  if (!repeats)
    return with_places(
        head + inserted("::px::cell::begin_timing(); ") +
        followed_by(with_lambdas_in_functions(body, find_macro),
                    inserted(" ::px::cell::end_timing();")));
  const std::string name = new_name();
  return with_places(head +
                     inserted("void " + name + "() { ::px::cell::timeit(" +
                              std::to_string(timing.loops) + ", " + std::to_string(timing.repeats) +
                              ", [] { ") +
                     followed_by(body, inserted(" }); } " + name + "();")));
}

bool is_name_of_cell(std::string_view file) {
  return !file.empty() && file.find_first_of("/.<") == file.npos;
}

bool is_wrapper(std::string_view function) {
  return function.substr(0, wrapper_prefix.size()) == wrapper_prefix;
}

std::vector<std::string> forms_of(const CellText& cell, const FindMacro& find_macro) {
  const bool has_tail = find_tail(cell.code, find_macro).has_value();
  std::vector<std::string> forms;
  if (const CellDirective* const timing = cell.timing()) {
    if (has_tail || timing->kind == DirectiveKind::timeit)
      forms.push_back(timed_form(cell.code, *timing, true, find_macro));
    forms.push_back(timed_form(cell.code, *timing, false, find_macro));
  } else {
    if (has_tail) forms.push_back(*display_form(cell.code, find_macro));
    forms.push_back(
        with_places(with_lambdas_in_functions(statement_form(cell.code, find_macro), find_macro)));
  }
  return forms;
}

std::vector<std::string> forms_in_functions(const CellText& cell, const FindMacro& find_macro) {
  if (cell.timing()) return {};
  const auto form = [&](const std::string& code) {
    return with_places(with_functions(code, find_macro, [](std::string_view) { return true; }));
  };
  std::vector<std::string> forms;
  if (find_tail(cell.code, find_macro))
    forms.push_back(form(with_tail_behind("::px::cell::Shower{}", cell.code, find_macro)));
  forms.push_back(form(statement_form(cell.code, find_macro)));
  return forms;
}

std::optional<std::string> last_defined_name(std::string_view code) {
  const std::vector<Cut> statements = cut_statements(code, {});
  const Cut* const last = last_statement(statements);
  if (last == nullptr || last->name.empty() || last->name == "operator") return std::nullopt;
  if (last->kind != StatementKind::function && last->kind != StatementKind::other &&
      last->kind != StatementKind::declaration)
    return std::nullopt;
  return std::string(last->name);
}

std::vector<std::string> identifiers_of(std::string_view code) {
  const std::string masked = mask_code(code).text;
  std::vector<std::string> names;
  for (std::size_t at = 0; at < masked.size();) {
    const std::size_t begin = at;
    if (!is_word_part(masked[at])) {
      ++at;
      continue;
    }
    while (at < masked.size() && is_word_part(masked[at])) ++at;
    std::string name = masked.substr(begin, at - begin);
    const bool is_name = is_word_start(name[0]) && name.find_first_not_of('_') != name.npos;
    if (is_name && std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  return names;
}

}  // namespace px::cpp
