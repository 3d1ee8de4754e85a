// Cells that are not C++ alone: see foreign_cell.hpp.

#include <filesystem>
#include <fstream>

#include "interpreters/cpp/other_kernels/reference_pages.hpp"
#include "interpreters/cpp/run/cell_errors.hpp"
#include "interpreters/cpp/run/cpp_interpreter.hpp"
#include "os/folders.hpp"

namespace px::cpp {
namespace {

std::string link_flag(const std::string& library) {
  if (library.find('/') != library.npos) return library;
  return library.find(".so") != library.npos ? "-l:" + library : "-l" + library;
}

}  // namespace

CellOutcome CppInterpreter::run_cell(const interpreters::Execution& execution) {
  using Action = ForeignCell::Action;
  if (begins_with_command(execution.code) && is_expression(execution.code))
    return run_code(execution, {.code = execution.code});
  const Result<ForeignCell> foreign = read_foreign_cell(execution.code);
  if (!foreign) return refusal("DirectiveError", foreign.error().what);
  for (const std::string& note : foreign->notes) output_.write("stderr", note + "\n");
  switch (foreign->action) {
    case Action::run:
      break;
    case Action::help:
      output_.write("stdout", help_text());
      return {};
    case Action::describe:
      return describe_name(foreign->arguments.front());
    case Action::write_file:
      return write_file(*foreign);
    case Action::make_program:
      return write_program(*foreign);
  }
  return run_code(execution, *foreign);
}

/// `!done`, where `done` is a variable.
bool CppInterpreter::is_expression(const std::string& code) {
  const auto form = display_form(code);
  return form && session_->check(in_edition(*form, edition_), "cell").is_ok();
}

CellOutcome CppInterpreter::describe_name(const std::string& name) {
  const auto known = session_->inspect(name, name.size());
  const std::string page = reference_page(name);
  if (!known && page.empty())
    return refusal("NameError", "no cell and no header of this session declares `" + name + "`");
  CellOutcome outcome;
  std::string text = known.value_or("");
  if (!text.empty() && !page.empty()) text += "\n\n";
  outcome.shown = MimeBundle{{"text/plain", text + page}};
  return outcome;
}

CellOutcome CppInterpreter::write_file(const ForeignCell& foreign) {
  const std::filesystem::path path = os::expand_home(foreign.arguments.front());
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  std::ofstream file(path, foreign.appends ? std::ios::app : std::ios::trunc);
  file << foreign.code;
  if (!foreign.code.empty() && foreign.code.back() != '\n') file << '\n';
  file.close();
  if (!file) return refusal("DirectiveError", "cannot write " + path.string());
  const char* const what = !exists           ? "Writing "
                           : foreign.appends ? "Appending to "
                                             : "Overwriting ";
  output_.write("stdout", what + path.string() + "\n");
  return {};
}

CellOutcome CppInterpreter::write_program(const ForeignCell& foreign) {
  const Result<CellText> cell = read_cell(foreign.code);
  if (!cell) return refusal("DirectiveError", cell.error().what);
  for (const CellDirective& directive : cell->directives)
    if (const Result<void> obeyed = obey(directive); !obeyed)
      return refusal("DirectiveError", obeyed.error().what);
  ProgramRequest request{os::expand_home(foreign.arguments.front()).string(),
                         program_.with_main(cell->code)};
  request.flags = CompilerOptions::default_flags();
  const std::vector<std::string> of_mpi = extras_.mpi.flags();
  const std::vector<std::string> own(foreign.arguments.begin() + 1, foreign.arguments.end());
  for (const std::vector<std::string>& more : {of_mpi, choice_.flags, program_flags_, own})
    request.flags.insert(request.flags.end(), more.begin(), more.end());
  if (request.text.find("MPI_") != request.text.npos)
    request.flags.push_back(extras_.mpi.implementation == "mpich" ? "-lmpich" : "-lmpi");
  if (const Result<void> made = make_program(request); !made)
    return refusal("CompileError",
                   "%%executable " + request.file + " failed: " + made.error().what);
  output_.write("stdout", "Writing the program " + request.file + "\n");
  return {};
}

Result<void> CppInterpreter::add_include_folder(const std::string& folder) {
  const Result<void> done = session_->add_include_folder(folder);
  if (done) program_flags_.push_back("-I" + folder);
  return done;
}

Result<void> CppInterpreter::load_library(const std::string& name) {
  const Result<void> done = session_->load_library(name);
  if (done) program_flags_.push_back(link_flag(name));
  return done;
}

}  // namespace px::cpp
