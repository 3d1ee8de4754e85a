#include "interpreters/cpp/run/cell_errors.hpp"

#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/messages/hints.hpp"
#include "wire/text.hpp"

namespace px::cpp {
namespace {

CellOutcome interrupted_in_compiler() {
  const std::string why = "the cell was interrupted while it was compiled";
  return {CellOutcome::Ending::interrupted, "Interrupted", why, {"Interrupted: " + why}};
}

CellOutcome not_compiled(const std::string& why) {
  return refusal("CompileError", why + "; no part of the cell ran");
}

}  // namespace

CellOutcome compile_error(const std::string& said) {
  const std::string text = name_lines_of_cells(said);
  const std::string hint = hint_of_first_error(text);
  return {CellOutcome::Ending::compile_error, "CompileError",
          first_error(text) + (hint.empty() ? "" : " (hint: " + hint + ")"), lines_of(text)};
}

CellOutcome link_error(const std::vector<std::string>& missing) {
  const std::string hint = hint_for_symbols(missing);
  return refusal("LinkError", "undefined: " + join(missing, ", ") +
                                  " (declared, but no cell and no loaded library defines it; " +
                                  (hint.empty() ? "load a library with %lib" : "hint: " + hint) +
                                  ")");
}

CellOutcome outcome_of(const CheckReport& report, const CheckLimits& limits) {
  switch (report.kind) {
    case CheckResult::ok:
      return report.missing.empty() ? CellOutcome{} : link_error(report.missing);
    case CheckResult::rejected:
      return compile_error(report.said);
    case CheckResult::interrupted:
      CellGuard::forget_interrupts();
      return interrupted_in_compiler();
    case CheckResult::timed_out:
      return not_compiled("the compiler did not finish this cell in " +
                          std::to_string(limits.processor_seconds) + " s");
    case CheckResult::out_of_memory:
      return not_compiled("the compiler needed too much memory for this cell");
    case CheckResult::crashed:
      break;
  }
  return not_compiled(
      "the compiler crashed on this cell (a `return` outside a function makes it crash)");
}

}  // namespace px::cpp
