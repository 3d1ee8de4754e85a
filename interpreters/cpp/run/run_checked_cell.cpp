// CppSession runs a cell that compiled in a child: compiles it in this process, links and calls it.

#include <algorithm>
#include <iterator>
#include <regex>
#include <utility>

#include "interpreters/cpp/compile/changed_headers.hpp"
#include "interpreters/cpp/guard/cell_stack.hpp"
#include "interpreters/cpp/jit/link_check.hpp"
#include "interpreters/cpp/messages/type_names.hpp"
#include "interpreters/cpp/run/cell_errors.hpp"
#include "interpreters/cpp/run/session_state.hpp"

namespace px::cpp {
namespace {

/// Whether something of a header has another meaning from now on.
bool hides_header(const ReplacedDeclarations& replaced) {
  const auto is_of_file = [](const clang::NamedDecl* each) { return each->isFromASTFile(); };
  return !replaced.of_system.empty() ||
         std::any_of(replaced.hidden.begin(), replaced.hidden.end(), is_of_file) ||
         std::any_of(replaced.undefined.begin(), replaced.undefined.end(), is_of_file);
}

/// Whether the code of templates may become another one by it.
bool has_pragma(const std::string& code) {
  static const std::regex pragma(R"((#\s*pragma\s+(?!omp\b|once\b)|\b_Pragma\b))");
  return code.find("ragma") != code.npos && std::regex_search(code, pragma);
}

}  // namespace

/// Whether it was in use until now.
bool CppSession::State::leave_header_code(bool is_changed) {
  if (!is_changed || !header_code || !header_code->is_in_use()) return false;
  header_code->stop();
  return true;
}

void CppSession::State::make_room_for(const Plan& plan) {
  // Before they are hidden: to name their symbols, clang may look them up.
  for (const auto* declarations : {&plan.replaced.hidden, &plan.replaced.undefined})
    for (clang::NamedDecl* declaration : *declarations)
      for (const std::string& symbol : symbols_of(*compiler, declaration, weak_symbols)) {
        weak_symbols.erase(symbol);
        remove_symbol(symbol);
      }
  for (clang::NamedDecl* declaration : plan.replaced.hidden)
    if (declaration->getIdentifier()) hidden_names.insert(declaration->getName().str());
  hidden_names.insert(plan.replaced.of_system.begin(), plan.replaced.of_system.end());
  hide_replaced(*compiler, plan.replaced);
}

/// What refers to it already keeps it.
void CppSession::State::remove_symbol(const std::string& symbol) {
  known_code.forget(symbol);
  auto name = compiler->jit().getExecutionSession().intern(symbol);
  llvm::consumeError(compiler->jit().getMainJITDylib().remove({std::move(name)}));
}

CellOutcome CppSession::State::run(const Plan& plan) {
  leave_header_code(hides_header(plan.replaced) || has_pragma(plan.source.cell));
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
  const bool is_unlinked = outcome.kind == CellOutcome::Ending::compile_error;
  // Else include guards would stay without what they guard.
  if (is_unlinked && !plan.has_include) compiler->undo();
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
  if (!linked) return refusal("LinkError", linked.error().what);
  known_code.note(*unit.TheModule);
  if (header_code) linked = header_code->take_from(*unit.TheModule);
  if (!linked) return refusal("LinkError", linked.error().what);
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
  return refusal("LinkError", linked.error().what);
}

}  // namespace px::cpp
