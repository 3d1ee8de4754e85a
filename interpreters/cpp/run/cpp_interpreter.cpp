#include "interpreters/cpp/run/cpp_interpreter.hpp"

#include <px_version.hpp>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <thread>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_points.hpp"
#include "interpreters/cpp/cells/completeness.hpp"
#include "interpreters/cpp/compile/package_flags.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/run/cell_errors.hpp"

namespace px::cpp {
namespace {

Json content_of_error(const CellOutcome& outcome) {
  return {{"status", "error"},
          {"ename", outcome.error_name},
          {"evalue", outcome.error_value},
          {"traceback", outcome.traceback}};
}

Error directive_error(const CellDirective& directive, const Error& error) {
  return {error.kind, "line " + std::to_string(directive.line) + ": " + error.what};
}

/// What clang 22 does where a type of the same name has been shown and is defined again.
bool has_crashed_compiler(const CellOutcome& checked) {
  return checked.error_value.find("the compiler crashed") != std::string::npos;
}

bool has_code(const std::string& code) {
  const std::string masked = mask_code(code).text;
  return std::any_of(masked.begin(), masked.end(),
                     [](unsigned char c) { return !std::isspace(c); });
}

constexpr std::size_t max_shown_lines = 16;  // of a deep recursion

/// Without blanks around it; "" where there is none.
std::string source_line(const std::string& code, int number) {
  const std::vector<std::string> lines = lines_of(code);
  if (number < 1 || static_cast<std::size_t>(number) > lines.size()) return "";
  const std::string& line = lines[static_cast<std::size_t>(number) - 1];
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == line.npos ? "" : line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// "cell 3" -> 3; 0 for other names.
int number_of_cell(const std::string& name) {
  constexpr std::string_view prefix = "cell ";
  int number = 0;
  if (name.compare(0, prefix.size(), prefix) == 0)
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
  return number;
}

/// As long as the cell, with blanks in place of the directives.
std::string without_directives(const std::string& cell) {
  Result<CellText> text = read_cell(cell);
  return text ? std::move(text->code) : cell;
}

interpreters::ApplyResult refuse(const std::string& why) {
  return {pack(Packer::json, content_of_error(refusal("NotSupported", why))), false, false, {}};
}

}  // namespace

Result<std::unique_ptr<CppInterpreter>> CppInterpreter::create(interpreters::Output& output,
                                                               SessionExtras extras) {
  std::string warning;
  auto session = make_session({}, extras, warning);
  if (!session) return session.error();
  if (!warning.empty()) output.write("stderr", warning);
  auto made = std::make_unique<CppInterpreter>(std::move(*session),
                                               std::make_unique<CellExchange>(), output);
  made->extras_ = std::move(extras);
  return made;
}

CppInterpreter::CppInterpreter(std::unique_ptr<CppSession> session,
                               std::unique_ptr<CellExchange> exchange, interpreters::Output& output)
    : output_(output),
      exchange_(std::move(exchange)),
      session_(std::move(session)),
      checkpoints_(checkpoint_session()),
      captured_(output) {
  exchange_->install();
  exchange_->on_display([this](const MimeBundle& shown) {
    publish("display_data", shown, {{"transient", Json::object()}});
  });
  exchange_->on_named_display([this](const MimeBundle& shown, const auto& name) {
    publish(name.is_update ? "update_display_data" : "display_data", shown,
            {{"transient", {{"display_id", name.id}}}});
  });
  // Only the thread in which cells run may ask the compiler.
  exchange_->on_types(
      {[this, main = std::this_thread::get_id()](const std::string& type, long long value) {
         const bool may_ask = std::this_thread::get_id() == main;
         return may_ask ? session_->enumerator_of(type, value) : std::string();
       },
       [this, main = std::this_thread::get_id()](const std::string& type) {
         std::string lines;
         if (std::this_thread::get_id() == main)
           for (const std::string& name : session_->members_of(type)) lines += name + "\n";
         return lines;
       }});
  exchange_->on_variables([this] { return variables(); });
  exchange_->on_clear([this](bool waits) {
    output_.publish("clear_output", pack(Packer::json, {{"wait", waits}}), "{}", {});
  });
}

CppInterpreter::~CppInterpreter() = default;

/// A line each.
std::string CppInterpreter::variables() {
  std::string lines;
  for (const std::string& name : session_->variables()) lines += name + "\n";
  return lines;
}

Json CppInterpreter::execute(const interpreters::Execution& execution) {
  const bool is_kept = execution.keeps_history && !execution.is_silent;
  if (is_kept) history_.add(execution.count, execution.code);
  const CellOutcome outcome = run_cell(execution);
  Json reply{{"status", "ok"},
             {"execution_count", execution.count},
             {"user_expressions", Json::object()},
             {"payload", Json::array()}};
  if (outcome.is_ok()) {
    if (outcome.shown && !execution.is_silent)
      publish("execute_result", *outcome.shown, {{"execution_count", execution.count}});
    if (outcome.shown && is_kept)
      if (const auto text = outcome.shown->find("text/plain"); text != outcome.shown->end())
        history_.set_output(text->second);
    reply["user_expressions"] = user_expressions(execution.user_expressions);
    return reply;
  }
  Json error = content_of_error(outcome);
  reply.update(error);
  error.erase("status");
  output_.publish("error", pack(Packer::json, error), "{}", {});
  return reply;
}

CellOutcome CppInterpreter::run_code(const interpreters::Execution& execution,
                                     const ForeignCell& foreign) {
  const std::string name =
      execution.count > 0 ? "cell " + std::to_string(execution.count) : std::string("cell");
  Result<CellText> cell = read_cell(foreign.code);
  if (!cell) return refusal("DirectiveError", cell.error().what);
  cell->directives.insert(cell->directives.begin(), foreign.directives.begin(),
                          foreign.directives.end());
  std::string form;
  const CellOutcome checked = prepare(*cell, name, form);
  std::optional<std::string> reason;
  // All ranks see by the text alone whether there is code to vote on, a failed directive or not.
  if (agree_ && !form.empty()) reason = agree_(execution.metadata, checked);
  if (!checked.is_ok() || form.empty()) return checked;
  if (reason && CppSession::is_interrupt_pending()) {
    CppSession::forget_interrupts();
    return {CellOutcome::Ending::interrupted, "Interrupted", *reason, {"Interrupted: " + *reason}};
  }
  if (reason) return refusal("NotRun", *reason);
  if (!session_->warnings().empty()) output_.write("stderr", session_->warnings());
  has_run_ = true;
  input_.begin_cell();
  exchange_->take_shown();  // what something else may have left
  session_->show_to_debuggers(name, execution.code);
  CellOutcome outcome = session_->run(form, name);
  add_source_lines(outcome, execution);
  if (outcome.kind == CellOutcome::Ending::interrupted) CppSession::forget_interrupts();
  if (outcome.is_ok()) program_.add(cell->code);
  if (outcome.kind != CellOutcome::Ending::compile_error) count_edition(cell->code);
  outcome.shown = exchange_->take_shown();
  return outcome;
}

/// Cells may look at values in another way after this one.
void CppInterpreter::count_edition(const std::string& code) {
  if (!says_how_values_look(code) && !(has_shown_ && includes_other_headers(code))) return;
  ++edition_;
  has_shown_ = false;
}

/// Puts the lines where it was left before the message, the innermost one last, as Python does.
void CppInterpreter::add_source_lines(CellOutcome& outcome,
                                      const interpreters::Execution& execution) const {
  std::vector<std::string> shown;
  const std::size_t count = std::min(outcome.lines.size(), max_shown_lines);
  if (count < outcome.lines.size()) shown.push_back("...");
  for (std::size_t i = count; i-- > 0;) {
    const CellLine& line = outcome.lines[i];
    const std::string code = line.is_of_this_cell
                                 ? execution.code
                                 : history_.code_of(number_of_cell(line.cell)).value_or("");
    shown.push_back("\x1b[32m" + line.cell + ", line " + std::to_string(line.line) + "\x1b[0m");
    if (const std::string source = source_line(code, line.line); !source.empty())
      shown.push_back("    " + source);
  }
  outcome.traceback.insert(outcome.traceback.begin(), shown.begin(), shown.end());
}

/// Obeys the directives and checks the code. form  what is to be run; "" where there is no code.
CellOutcome CppInterpreter::prepare(const CellText& cell, const std::string& name,
                                    std::string& form) {
  form = has_code(cell.code) ? cell.code : std::string();
  if (const Result<void> chosen = choose_session(cell); !chosen)
    return refusal("DirectiveError", chosen.error().what);
  for (const CellDirective& directive : cell.directives) {
    const Result<void> obeyed = obey(directive);
    if (!obeyed) return refusal("DirectiveError", directive_error(directive, obeyed.error()).what);
  }
  CellOutcome checked;
  if (form.empty()) return checked;
  const FindMacro find_macro = [this](const std::string& each) { return session_->macro(each); };
  CellText edited = cell;
  edited.code = displays_in_edition(cell.code, edition_);
  std::vector<std::string> forms = forms_of(edited, find_macro);
  if (edited.code != cell.code)  // so that what the compiler says is about the cell as it is
    for (std::string& each : forms_of(cell, find_macro)) forms.push_back(std::move(each));
  std::optional<CellOutcome> unlinked;  // what is missing, where that is all that is wrong
  bool is_in_functions = false;
  for (std::size_t next = 0; next < forms.size();) {
    const std::string each = forms[next++];
    form = in_edition(each, edition_);
    checked = session_->check(form, name);
    // What shows a type of this name is compiled for an earlier one: an enumeration, defined again.
    if (!checked.is_ok() && in_edition(each, edition_ + 1) != form &&
        has_crashed_compiler(checked)) {
      form = in_edition(each, ++edition_);
      checked = session_->check(form, name);
    }
    const bool is_of_bits = checked.error_value.find("bit-field") != std::string::npos;
    if (const auto copy = is_of_bits ? copy_form(edited.code, find_macro) : std::nullopt) {
      form = *copy;
      checked = session_->check(form, name);
    }
    if (checked.is_ok() || checked.kind == CellOutcome::Ending::interrupted) return checked;
    const bool is_crash = has_crashed_compiler(checked);
    if (!is_crash && checked.error_name != "LinkError") continue;
    if (!std::exchange(is_in_functions, true)) {
      forms = forms_in_functions(edited, find_macro);
      next = 0;
    }
    if (!is_crash) unlinked = checked;
  }
  return unlinked.value_or(checked);
}

Result<void> CppInterpreter::obey(const CellDirective& directive) {
  for (const std::string& argument : directive.arguments) {
    Result<void> done;
    if (directive.kind == DirectiveKind::include_folder) done = add_include_folder(argument);
    if (directive.kind == DirectiveKind::library_folder) session_->add_library_folder(argument);
    if (directive.kind == DirectiveKind::library) done = load_library(argument);
    if (directive.kind == DirectiveKind::package) done = use_package(argument);
    if (!done) return done;
  }
  return {};
}

/// Makes another session, where the directives of a cell ask for one.
Result<void> CppInterpreter::choose_session(const CellText& cell) {
  Result<SessionChoice> wanted = choose(cell, choice_);
  if (!wanted) return wanted.error();
  if (*wanted == choice_) return {};
  if (has_run_)
    return Error{ErrorKind::bad_input,
                 "The compiler's flags and precompiled headers cannot change after the first cell "
                 "has run: put %flags and %pch into the first cell after a restart."};
  return renew(std::move(*wanted));
}

/// A session in which nothing is defined.
Result<void> CppInterpreter::renew(SessionChoice choice) {
  std::string warning;
  auto session = make_session(choice, extras_, warning);
  if (!session) return session.error();
  if (!warning.empty()) output_.write("stderr", warning);
  values_.reset();
  session_ = std::move(*session);
  choice_ = std::move(choice);
  has_run_ = false;
  edition_ = 0;
  has_shown_ = false;
  program_ = {};
  program_flags_.clear();
  return {};
}

Result<void> CppInterpreter::use_package(const std::string& name) {
  const Result<PackageFlags> flags = ask_pkg_config(name);
  if (!flags) return flags.error();
  for (const std::string& folder : flags->include_folders) {
    const Result<void> done = add_include_folder(folder);
    if (!done) return done;
  }
  for (const std::string& library : flags->libraries) {
    const Result<void> done = load_library(library);
    if (!done) return done;
  }
  if (flags->definitions.empty()) return {};
  const CellOutcome outcome = session_->run(flags->definitions, "%pkg " + name);
  if (outcome.is_ok()) return {};
  return Error{ErrorKind::bad_input, outcome.error_value};
}

void CppInterpreter::publish(const char* type, const MimeBundle& shown, Json content) {
  has_shown_ = true;
  content["data"] = shown;
  content["metadata"] = Json::object();
  output_.publish(type, pack(Packer::json, content), "{}", {});
}

Json CppInterpreter::evaluate(const std::string& expression) {
  const std::optional<std::string> form = display_form(expression);
  if (!form)
    return content_of_error(refusal("CompileError", "`" + expression + "` is not an expression"));
  CellOutcome outcome = session_->run(in_edition(*form, edition_), "expression");
  if (outcome.kind == CellOutcome::Ending::compile_error) {  // maybe of what would show the value
    CellOutcome plain = session_->check(statement_form(expression), "expression");
    if (!plain.is_ok()) outcome = std::move(plain);
  }
  if (!outcome.is_ok()) return content_of_error(outcome);
  const std::optional<MimeBundle> shown = exchange_->take_shown();
  return {{"status", "ok"},
          {"data", shown ? Json(*shown) : Json::object()},
          {"metadata", Json::object()}};
}

Json CppInterpreter::user_expressions(const Json& expressions) {
  Json values = Json::object();
  if (expressions.is_object())
    for (const auto& [name, expression] : expressions.items())
      if (expression.is_string()) values[name] = evaluate(expression.get<std::string>());
  return values;
}

interpreters::ApplyResult CppInterpreter::apply(const interpreters::Application&) {
  return refuse(
      "This engine runs C++ and cannot run a pickled Python function. Send C++ "
      "source with execute, or call a C++ function by its name or source.");
}

CppValues& CppInterpreter::values() {
  if (!values_)
    values_ = std::make_unique<CppValues>(
        CellRunner{[this](const std::string& code, const std::string& name) {
                     return session_->run(code, name);
                   },
                   [this](void (*code)()) { return session_->call(code); },
                   [this](const std::string& name) { return session_->identity(name); }},
        *exchange_);
  return *values_;
}

CheckpointSession CppInterpreter::checkpoint_session() {
  return {[this](const auto& request) { return values().serve(request); },
          [this] {
            const auto names = session_->variables();
            return std::vector<std::string>{names.begin(), names.end()};
          },
          [this](const std::string& name) { return session_->identity(name) != nullptr; },
          [this] { return values().scattered(); },
          [this](const std::string& code) { session_->run(code, "restore"); },
          [this](std::uint64_t bytes) {
            const Json told{{"bytes", bytes}};
            const Json data{{"application/vnd.polyxeus.checkpoint+json", told}};
            output_.publish(
                "display_data",
                pack(Packer::json,
                     {{"data", data}, {"metadata", Json::object()}, {"transient", Json::object()}}),
                "{}", {});
          }};
}

interpreters::ApplyResult CppInterpreter::serve(const interpreters::NativeRequest& request) {
  has_run_ = true;
  if (auto result = checkpoints_.serve(request)) return std::move(*result);
  return values().serve(request);
}

Json CppInterpreter::complete(const std::string& cell, int cursor) {
  const std::string code = without_directives(cell);
  const std::size_t end = byte_offset(code, cursor);
  const CppSession::Completions found = session_->complete(code, end);
  const int first = code_points(code, found.begin), last = code_points(code, end);
  Json matches = Json::array(), types = Json::array();
  for (const Suggestion& each : found.suggestions) {
    matches.push_back(each.text);
    types.push_back({{"start", first},
                     {"end", last},
                     {"text", each.text},
                     {"type", each.kind},
                     {"signature", each.signature}});
  }
  return {{"status", "ok"},
          {"matches", std::move(matches)},
          {"cursor_start", first},
          {"cursor_end", last},
          {"metadata", {{"_jupyter_types_experimental", std::move(types)}}}};
}

Json CppInterpreter::inspect(const std::string& cell, int cursor, int) {
  const std::string code = without_directives(cell);
  const std::optional<std::string> text = session_->inspect(code, byte_offset(code, cursor));
  return {{"status", "ok"},
          {"found", text.has_value()},
          {"data", text ? Json{{"text/plain", *text}} : Json::object()},
          {"metadata", Json::object()}};
}

Json CppInterpreter::is_complete(const std::string& code) {
  if (is_foreign_as_a_whole(code)) return {{"status", "complete"}};
  const Result<CellText> cell = read_cell(code);
  if (!cell) return {{"status", "invalid"}};
  switch (completeness(cell->code)) {
    case Completeness::complete:
      return {{"status", "complete"}};
    case Completeness::incomplete:
      return {{"status", "incomplete"}, {"indent", next_indent(cell->code)}};
    case Completeness::invalid:
      break;
  }
  return {{"status", "invalid"}};
}

Json CppInterpreter::history(const Json& request) {
  return {{"status", "ok"}, {"history", history_.find(request)}};
}

Json CppInterpreter::kernel_info() {
  return {{"status", "ok"},
          {"implementation", "polyxeus"},
          {"implementation_version", version},
          {"language_info",
           {{"name", "c++"},
            {"version", "20"},
            {"mimetype", "text/x-c++src"},
            {"file_extension", ".cpp"},
            {"codemirror_mode", "text/x-c++src"},
            {"pygments_lexer", "cpp"}}},
          {"banner", std::string("polyxeus ") + version + ": C++20, cell by cell"},
          {"help_links", Json::array()}};
}

void CppInterpreter::comm(const interpreters::CommMessage&) {}

Json CppInterpreter::comm_info(const Json&) {
  return {{"status", "ok"}, {"comms", Json::object()}};
}

void CppInterpreter::clear() {
  const Result<void> done = renew({});
  if (!done) output_.write("stderr", "No variables were removed: " + done.error().what + "\n");
}

void CppInterpreter::on_wake() {
  CppSession::forget_interrupts();
}

void CppInterpreter::before_request() {
  CppSession::forget_interrupts();
}

}  // namespace px::cpp
