#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "interpreters/cpp/assist/completion.hpp"
#include "interpreters/cpp/assist/help.hpp"
#include "interpreters/cpp/assist/name_queries.hpp"
#include "interpreters/cpp/assist/type_queries.hpp"
#include "interpreters/cpp/cells/cell_mistakes.hpp"
#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/changed_headers.hpp"
#include "interpreters/cpp/compile/forked_check.hpp"
#include "interpreters/cpp/compile/llvm_files.hpp"
#include "interpreters/cpp/compile/precompiled_header.hpp"
#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/guard/cell_stack.hpp"
#include "interpreters/cpp/habits/header_texts.hpp"
#include "interpreters/cpp/jit/known_code.hpp"
#include "interpreters/cpp/jit/link_check.hpp"
#include "interpreters/cpp/kept_code/header_code.hpp"
#include "interpreters/cpp/kept_code/known_functions.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/messages/hints.hpp"
#include "interpreters/cpp/messages/type_names.hpp"
#include "wire/json.hpp"

namespace px::cpp {
namespace {

constexpr int max_check_rounds = 12;  // each one makes room for more of what a cell redefines
constexpr int max_header_rounds = 64;  // how deep headers that changed may include each other

CellOutcome compile_error(const std::string& said) {
  const std::string text = name_lines_of_cells(said);
  const std::string hint = hint_of_first_error(text);
  return {CellOutcome::Kind::compile_error, "CompileError",
          first_error(text) + (hint.empty() ? "" : " (hint: " + hint + ")"), lines_of(text)};
}

CellOutcome failure(CellOutcome::Kind kind, const std::string& name, const std::string& value) {
  return {kind, name, value, {name + ": " + value}};
}

CellOutcome link_error(const std::vector<std::string>& missing) {
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  const std::string hint = hint_for_symbols(missing);
  return failure(CellOutcome::Kind::compile_error, "LinkError",
                 "undefined: " + names +
                     " (declared, but no cell and no loaded library defines it; " +
                     (hint.empty() ? "load a library with %lib" : "hint: " + hint) + ")");
}

CellOutcome not_compiled(const std::string& why) {
  return failure(CellOutcome::Kind::compile_error, "CompileError",
                 why + "; no part of the cell ran");
}

CellOutcome outcome_of(const CheckReport& report, const CheckLimits& limits) {
  switch (report.kind) {
    case CheckReport::Kind::ok:
      return report.missing.empty() ? CellOutcome{} : link_error(report.missing);
    case CheckReport::Kind::rejected:
      return compile_error(report.said);
    case CheckReport::Kind::interrupted:
      CellGuard::forget_interrupts();
      return failure(CellOutcome::Kind::interrupted, "Interrupted",
                     "the cell was interrupted while it was compiled");
    case CheckReport::Kind::timed_out:
      return not_compiled("the compiler did not finish this cell in " +
                          std::to_string(limits.processor_seconds) + " s");
    case CheckReport::Kind::out_of_memory:
      return not_compiled("the compiler needed too much memory for this cell");
    case CheckReport::Kind::crashed:
      break;
  }
  return not_compiled(
      "the compiler crashed on this cell (it does so at `return` outside of functions)");
}

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

/// The library that a script of the linker names, as some stand in the place of a library (libm.so
/// of the GNU C library); "" where the loader's words are about something else.
std::string library_of_script(const std::string& said) {
  std::smatch found;
  if (!std::regex_search(said, found, std::regex(R"(([^\s:]+): invalid ELF header)"))) return "";
  const std::string text = text_of_file(found[1]).value_or("");
  const bool names_one =
      std::regex_search(text, found, std::regex(R"(\b(?:GROUP|INPUT)\s*\(\s*([^\s)]+))"));
  return names_one ? found[1].str() : "";
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

/// Whether something of a header has another meaning from now on.
bool hides_header(const Room& room) {
  const auto is_of_file = [](const clang::NamedDecl* each) { return each->isFromASTFile(); };
  return !room.of_system.empty() ||
         std::any_of(room.hidden.begin(), room.hidden.end(), is_of_file) ||
         std::any_of(room.undefined.begin(), room.undefined.end(), is_of_file);
}

/// Whether the code of templates may become another one by it.
bool has_pragma(const std::string& code) {
  static const std::regex pragma(R"((#\s*pragma\s+(?!omp\b|once\b)|\b_Pragma\b))");
  return code.find("ragma") != code.npos && std::regex_search(code, pragma);
}

bool is_openmp_flag(const std::string& flag) {
  return flag == "-fopenmp" || flag == "-fopenmp=libomp";
}

}  // namespace

struct CppSession::State {
  CellGuard guard;
  KnownCode known_code;
  std::unique_ptr<HeaderCode> header_code;  // null where none is kept
  std::unique_ptr<Compiler> compiler;       // which asks for both until it is destroyed
  std::string warning, warnings;
  std::vector<std::string> library_folders;
  std::unordered_set<std::string> weak_symbols, strong_symbols;
  std::set<std::string> hidden_names;  ///< Those that had another meaning before.
  HeaderVersions headers;              ///< Of the user, that cells have included.
  int version = 0;                     ///< Of what is defined again.

  /// What a check found out, for the run that follows.
  struct Plan {
    std::string code, name;
    SourceText source;
    std::map<std::string, std::size_t> made = {};  ///< New versions: see HeaderVersions::note().
    Room room = {};
    std::vector<std::string> late = {};  ///< See CheckReport.
    CellOutcome outcome = {};
  };
  std::optional<Plan> checked;

  std::optional<MacroBody> macro(const std::string& name);
  bool mentions_hidden_name(const std::string& code) const;
  Plan plan(const std::string& code, const std::string& name);
  bool foresee(Plan& plan);
  std::vector<TextEdit> renew_headers(Plan& plan);
  void make_header(Plan& plan, const std::string& header, bool has_changed);
  void make_room_for(const Plan& plan);
  void remove_symbol(const std::string& symbol);
  void use_header_code(const std::string& precompiled_header);
  bool leave_header_code(bool is_changed);
  CellOutcome run(const Plan& plan);
  CellOutcome run_unit(clang::PartialTranslationUnit& unit, const std::string& name,
                       const std::vector<std::string>& late = {});
  Result<void> run_silently(const std::string& code, const std::string& what);
};

/// Checks again and again, with more room for what the cell defines, until it compiles or nothing
/// more can be done.
CppSession::State::Plan CppSession::State::plan(const std::string& code, const std::string& name) {
  Plan result{
      code, name, {"#line 1 \"" + quoted(name) + "\"\n" + name_unnamed_namespaces(code)}};
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
        check_in_child(*compiler, result.source, result.room, *to_mark, version);
    if (leave_header_code(report.changes_header)) continue;  // what it spared is checked now
    result.outcome = outcome_of(report, compiler->limits());
    if (report.kind == CheckReport::Kind::crashed && !to_mark->empty()) {
      if (foresee(result)) is_edited = true;
      to_mark = &none;
      continue;
    }
    result.late = report.late;
    warnings = without_colours(name_lines_of_cells(report.said));
    const bool is_ok = result.outcome.is_ok();
    const std::vector<TextEdit> edits = edits_of(report, is_ok, editing);
    const bool has_more_room = result.room.add(report.redefinition.room);
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
    } else if (report.kind == CheckReport::Kind::rejected && is_edited && !has_more_room) {
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
        foresee_in_child(*compiler, plan.source, plan.room, hidden_names, version);
    has_more = plan.room.add(foreseen.room);
    plan.source = apply_edits(plan.source, foreseen.marks);
    has_marks = has_marks || !foreseen.marks.empty();
  }
  return has_marks;
}

/// Lets the cell include new versions of headers that have changed. Returns marks for what these
/// define.
std::vector<TextEdit> CppSession::State::renew_headers(Plan& plan) {
  if (headers.is_empty() || !has_include(plan.code)) return {};
  for (int round = 0; round < max_header_rounds; ++round) {
    const ReadReport report = read_in_child(*compiler, plan.source, plan.room, version);
    const auto newer = headers.newer(report.inclusions, text_of_file);
    std::vector<TextEdit> edits;
    for (const Inclusion& each : report.inclusions) {
      const auto found = newer.find(each.path);
      if (found == newer.end() || !(each.in.empty() || plan.source.headers.count(each.in)))
        continue;
      const std::string path = !found->second.version.empty()
                                   ? found->second.version
                                   : version_path(each.path, version);
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
  plan.room.add(room_for_header(*compiler, header));
  // In the cell, as the version may be included more than once: its own guard must hold then.
  for (const std::string& macro : macros_of_header(*compiler, header))
    plan.source.cell = "#undef " + macro + "\n" + plan.source.cell;
}

std::optional<MacroBody> CppSession::State::macro(const std::string& name) {
  clang::Preprocessor& preprocessor = compiler->instance().getPreprocessor();
  const clang::MacroInfo* found = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
  if (!found || found->isBuiltinMacro()) return std::nullopt;
  MacroBody body{found->isFunctionLike(), {}};
  for (const clang::Token& token : found->tokens())
    body.text += preprocessor.getSpelling(token) + " ";
  return body;
}

bool CppSession::State::mentions_hidden_name(const std::string& code) const {
  if (hidden_names.empty()) return false;
  const std::vector<std::string> identifiers = identifiers_of(code);
  return std::any_of(identifiers.begin(), identifiers.end(),
                     [&](const std::string& each) { return hidden_names.count(each) > 0; });
}

void CppSession::State::make_room_for(const Plan& plan) {
  // Before they are hidden: to name their symbols, clang may look them up.
  for (const auto* declarations : {&plan.room.hidden, &plan.room.undefined})
    for (clang::NamedDecl* declaration : *declarations)
      for (const std::string& symbol : symbols_of(*compiler, declaration, weak_symbols)) {
        weak_symbols.erase(symbol);
        remove_symbol(symbol);
      }
  for (clang::NamedDecl* declaration : plan.room.hidden)
    if (declaration->getIdentifier()) hidden_names.insert(declaration->getName().str());
  hidden_names.insert(plan.room.of_system.begin(), plan.room.of_system.end());
  make_room(*compiler, plan.room);
}

/// Where code of its functions is kept.
void CppSession::State::use_header_code(const std::string& precompiled_header) {
  const std::string folder = code_folder_of(precompiled_header);
  if (folder.empty()) return;
  header_code = std::make_unique<HeaderCode>(
      *compiler, known_code, CodeFiles{folder, identity_of_code(precompiled_header)});
}

/// Whether it was in use until now.
bool CppSession::State::leave_header_code(bool is_changed) {
  if (!is_changed || !header_code || !header_code->is_in_use()) return false;
  header_code->stop();
  return true;
}

/// What refers to it already keeps it.
void CppSession::State::remove_symbol(const std::string& symbol) {
  known_code.forget(symbol);
  auto name = compiler->jit().getExecutionSession().intern(symbol);
  llvm::consumeError(compiler->jit().getMainJITDylib().remove({std::move(name)}));
}

CellOutcome CppSession::State::run(const Plan& plan) {
  leave_header_code(hides_header(plan.room) || has_pragma(plan.source.cell));
  make_room_for(plan);
  add_texts(*compiler, plan.source);
  compiler->log().take_text();
  compiler->inclusions().take();
  clang::PartialTranslationUnit* unit = compiler->parse(plan.source.cell);
  const std::string said = compiler->log().take_text();
  compiler->log().take_clashes();
  if (!unit) return compile_error(said);
  headers.note(compiler->inclusions().take(), plan.made);
  std::vector<std::string> missing = missing_symbols(compiler->jit(), *unit->TheModule), late;
  const auto comes_later = [&](const std::string& symbol) {
    return std::find(plan.late.begin(), plan.late.end(), symbol) != plan.late.end();
  };
  std::copy_if(missing.begin(), missing.end(), std::back_inserter(late), comes_later);
  std::erase_if(missing, comes_later);
  for (std::string& symbol : missing) symbol = name_of_symbol(symbol);
  CellOutcome outcome = missing.empty() ? run_unit(*unit, plan.name, late) : link_error(missing);
  const bool is_unlinked = outcome.kind == CellOutcome::Kind::compile_error;
  // Else include guards would stay without what they guard.
  if (is_unlinked && !has_include(plan.code)) compiler->undo();
  return outcome;
}

/// late  functions that a later cell may define.
CellOutcome CppSession::State::run_unit(clang::PartialTranslationUnit& unit,
                                        const std::string& name,
                                        const std::vector<std::string>& late) {
  const std::vector<std::string> symbols = defined_symbols(*unit.TheModule);
  for (const llvm::GlobalValue& value : unit.TheModule->global_values())
    if (value.isWeakForLinker() && !value.isDeclaration())
      weak_symbols.insert(value.getName().str());
  for (const std::string& symbol : compiler->late_functions().defined_by(*unit.TheModule))
    remove_symbol(symbol);
  for (const std::string& symbol : symbols)
    if (!strong_symbols.insert(symbol).second) remove_symbol(symbol);  // the newest wins
  Result<void> linked = compiler->late_functions().declare(late);
  if (!linked) return failure(CellOutcome::Kind::compile_error, "LinkError", linked.error().what);
  known_code.note(*unit.TheModule);
  if (header_code) linked = header_code->take_from(*unit.TheModule);
  if (!linked) return failure(CellOutcome::Kind::compile_error, "LinkError", linked.error().what);
  CellStack::clear();
  compiler->line_table().begin_cell(name);
  CellOutcome outcome =
      guard.run([&] { linked = compiler->execute(unit); }, CellGuard::Begin::when_told);
  outcome.lines = compiler->line_table().lines_of(CellStack::recorded());
  if (linked) {
    const Result<void> finished = compiler->finish(symbols);
    if (!finished && outcome.is_ok()) linked = finished;
  }
  if (linked) return outcome;
  known_code.forget_last();
  compiler->drop_code(unit);
  return failure(CellOutcome::Kind::compile_error, "LinkError", linked.error().what);
}

Result<void> CppSession::State::run_silently(const std::string& code, const std::string& what) {
  clang::PartialTranslationUnit* unit = compiler->parse(code);
  const std::string said = compiler->log().take_text();
  if (!unit) return Error{ErrorKind::bad_input, what + " does not compile: " + first_error(said)};
  const CellOutcome outcome = run_unit(*unit, what);
  if (!outcome.is_ok())
    return Error{ErrorKind::bad_input, what + " does not run: " + outcome.error_value};
  return {};
}

Result<std::unique_ptr<CppSession>> CppSession::create(Options options) {
  if (options.resource_folder.empty()) options.resource_folder = llvm_files().resource_folder;
  auto state = std::make_unique<State>();
  std::error_code error;
  bool has_prelude = !options.precompiled_header.empty();
  if (has_prelude && !std::filesystem::exists(options.precompiled_header, error)) {
    state->warning = "there is no precompiled header " + options.precompiled_header;
    has_prelude = false;
  }
  auto compiler = Compiler::create(options, has_prelude);
  if (!compiler && has_prelude) {
    state->warning = "ignoring the precompiled header: " + compiler.error().what;
    has_prelude = false;
    compiler = Compiler::create(options, false);
  }
  if (!compiler) return compiler.error();
  state->compiler = std::move(*compiler);
  if (has_prelude) state->use_header_code(options.precompiled_header);
  skip_known_functions(*state->compiler, state->known_code, state->header_code.get());
  add_headers(state->compiler->instance(), options.headers);
  if (!has_prelude && !options.prelude.empty()) {
    const Result<void> done = state->run_silently(options.prelude, "the prelude");
    if (!done) return done.error();
  }
  // What exceptions need shall come from a part that surely holds.
  const Result<void> started =
      state->run_silently("{ try { throw 1; } catch (int) {} }", "a first cell");
  if (!started) return started.error();
  if (state->header_code) state->header_code->load();
  auto session = std::unique_ptr<CppSession>(new CppSession(std::move(state)));
  if (std::any_of(options.flags.begin(), options.flags.end(), is_openmp_flag)) {
    const Result<void> loaded = session->load_library(llvm_files().openmp_library);
    if (!loaded) return loaded.error();
  }
  return session;
}

CppSession::CppSession(std::unique_ptr<State> state) : state_(std::move(state)) {}

CppSession::~CppSession() {
  if (state_->guard.has_jumped()) {  // LLVM's own objects may be damaged: they stay as they are
    state_->compiler->abandon();
    (void)state_->compiler.release();
  }
}

const std::string& CppSession::warning() const {
  return state_->warning;
}

const std::string& CppSession::warnings() const {
  return state_->warnings;
}

CellOutcome CppSession::check(const std::string& code, const std::string& name) {
  state_->checked = state_->plan(code, name);
  return state_->checked->outcome;
}

CellOutcome CppSession::run(const std::string& code, const std::string& name) {
  std::optional<State::Plan> plan = std::exchange(state_->checked, std::nullopt);
  if (!plan || plan->code != code || plan->name != name) plan = state_->plan(code, name);
  return plan->outcome.is_ok() ? state_->run(*plan) : plan->outcome;
}

CellOutcome CppSession::call(const std::function<void()>& function) {
  return state_->guard.run(function);
}

Result<void> CppSession::add_include_folder(const std::string& folder) {
  std::error_code error;
  const auto path = std::filesystem::absolute(folder, error);
  auto& files = state_->compiler->instance().getFileManager();
  const auto entry = files.getOptionalDirectoryRef(path.string(), false);
  if (!entry) return Error{ErrorKind::not_found, "No folder " + path.string() + " on this host."};
  state_->checked.reset();
  state_->compiler->instance().getPreprocessor().getHeaderSearchInfo().AddSearchPath(
      clang::DirectoryLookup(*entry, clang::SrcMgr::C_User, false), true);
  return {};
}

void CppSession::add_library_folder(const std::string& folder) {
  std::error_code error;
  state_->library_folders.push_back(std::filesystem::absolute(folder, error).string());
}

Result<void> CppSession::load_library(const std::string& name) {
  state_->checked.reset();
  const bool is_plain =
      name.find('/') == std::string::npos && name.find(".so") == std::string::npos;
  std::vector<std::string> candidates = {name};
  if (is_plain) candidates = {"lib" + name + ".so", name + ".so", name};
  for (const std::string& folder : state_->library_folders)
    for (const std::string& file : std::vector<std::string>(candidates))
      if (const std::string path = folder + "/" + file; std::filesystem::exists(path))
        candidates.insert(candidates.begin(), path);
  std::string said;
  for (std::size_t next = 0; next < candidates.size(); ++next) {
    const std::string candidate = candidates[next];
    llvm::Error error = state_->compiler->interpreter().LoadDynamicLibrary(candidate.c_str());
    if (!error) {
      state_->compiler->late_functions().look_into_libraries();
      return {};
    }
    const std::string text = llvm::toString(std::move(error));
    const std::string other = library_of_script(text);
    if (!other.empty() && !std::count(candidates.begin(), candidates.end(), other))
      candidates.push_back(other);
    if (said.empty()) said = text;
  }
  return Error{ErrorKind::not_found, "The library " + name + " cannot be loaded: " + said};
}

std::optional<MacroBody> CppSession::macro(const std::string& name) {
  return state_->macro(name);
}

std::optional<std::string> CppSession::type_of(const std::string& expression) {
  return ask_child([&] { return spelled_type(*state_->compiler, expression); });
}

CppSession::Completions CppSession::complete(const std::string& code, std::size_t cursor) {
  const CursorContext context = context_of_cursor(code, cursor);
  Completions found{{}, context.begin};
  const auto answer = ask_child([&]() -> std::optional<std::string> {
    Json list = Json::array();
    for (const Suggestion& each : suggestions_at(*state_->compiler, code, cursor, context))
      list.push_back({each.text, each.kind, each.signature});
    return pack(Packer::json, Json{{"suggestions", list}});
  });
  if (!answer) return found;
  const Result<Json> said = unpack(Packer::json, *answer);
  if (!said) return found;
  for (const Json& each : (*said)["suggestions"])
    found.suggestions.push_back({each[0], each[1], each[2]});
  return found;
}

std::optional<std::string> CppSession::inspect(const std::string& code, std::size_t cursor) {
  const CursorContext context = context_of_cursor(code, cursor);
  auto text = ask_child([&] { return help_at(*state_->compiler, code, cursor, context); });
  if (!text) text = ask_child([&] { return help_for_declared(*state_->compiler, code, context); });
  return text;
}

std::string CppSession::enumerator_of(const std::string& type, long long value) {
  return enumerator_name(*state_->compiler, type, value);
}

std::vector<std::string> CppSession::members_of(const std::string& type) {
  return member_names(*state_->compiler, type);
}

bool CppSession::is_defined(const std::string& name) {
  return find_name(*state_->compiler, name) != nullptr;
}

std::vector<std::string> CppSession::variables() {
  return variables_of_cells(*state_->compiler);
}

const void* CppSession::identity(const std::string& name) {
  return find_name(*state_->compiler, name);
}

void* CppSession::address_of(const std::string& symbol) {
  auto address = state_->compiler->interpreter().getSymbolAddress(symbol);
  if (address) return address->toPtr<void*>();
  llvm::consumeError(address.takeError());
  return nullptr;
}

void CppSession::interrupt() {
  CellGuard::interrupt();
}
void CppSession::handle_interrupts() {
  CellGuard::handle_interrupts();
}
bool CppSession::is_interrupt_pending() {
  return CellGuard::is_interrupt_pending();
}
void CppSession::forget_interrupts() {
  CellGuard::forget_interrupts();
}

}  // namespace px::cpp
