#pragma once

#include <clang/AST/Decl.h>
#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <clang/Interpreter/Interpreter.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/raw_ostream.h>

#include <functional>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "interpreters/cpp/compile/compiler_options.hpp"
#include "interpreters/cpp/compile/late_functions.hpp"
#include "interpreters/cpp/jit/cell_sources.hpp"
#include "interpreters/cpp/jit/line_table.hpp"
#include "interpreters/cpp/messages/compiler_message.hpp"
#include "wire/error.hpp"

// For the files of this room that use clang; slow to compile.
namespace px::cpp {

class InclusionLog;

/// An error of the compiler about something that already exists.
struct Clash {
  clang::SourceLocation here;
  clang::SourceLocation earlier;
};

/// The capture of a name that is not a local variable: the name, or the default of the lambda.
struct GlobalCapture {
  clang::SourceLocation place;
  bool is_default = false;
};

/// Keeps the compiler's messages until they are taken: as a text for users, with carets, colours
/// and hints.
class DiagnosticLog final : public clang::DiagnosticConsumer {
 public:
  explicit DiagnosticLog(clang::DiagnosticOptions& options);
  void BeginSourceFile(const clang::LangOptions& language, const clang::Preprocessor* pre) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override;

  std::string take_text();
  std::vector<Clash> take_clashes();
  std::vector<GlobalCapture> take_captures();

  /// Called at each clash, while the text is being written.
  std::function<void()> at_clash;

 private:
  void add(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic);
  bool has_header(const std::string& name) const;

  static constexpr std::size_t max_bytes = 64 << 10;
  std::string text_;  // of the message that is being printed
  std::size_t bytes_ = 0;
  std::vector<CompilerMessage> messages_;
  const clang::Preprocessor* preprocessor_ = nullptr;
  llvm::raw_string_ostream stream_;
  clang::TextDiagnosticPrinter printer_;
  clang::SourceLocation last_error_;
  std::vector<Clash> clashes_;
  std::vector<GlobalCapture> captures_;
};

/// clang's interpreter with the additions that this room needs. Makes no decisions.
class Compiler {
 public:
  static Result<std::unique_ptr<Compiler>> create(const CompilerOptions& options,
                                                  bool uses_precompiled_header);
  /// No object of clang is destroyed after this is called.
  void abandon();
  ~Compiler();
  Compiler() = default;
  Compiler(Compiler&&) = delete;

  clang::CompilerInstance& instance() { return *interpreter_->getCompilerInstance(); }
  clang::Interpreter& interpreter() { return *interpreter_; }
  llvm::orc::LLJIT& jit() { return *jit_; }
  DiagnosticLog& log() { return *log_; }
  InclusionLog& inclusions() { return *inclusions_; }
  LineTable& line_table() { return line_table_; }
  /// Null if debuggers are not to find the code.
  CellSources* sources() { return sources_.get(); }
  LateFunctions& late_functions() { return *late_functions_; }
  const CheckLimits& limits() const { return limits_; }
  /// Called when the compiler has read a whole part, before it forgets one with errors.
  std::function<void(clang::TranslationUnitDecl&)> at_end_of_part;

  /// The next text is only read: after an error, which this reports, clang compiles nothing.
  void compile_nothing();
  /// Null if the code has errors, which are in the log.
  clang::PartialTranslationUnit* parse(const std::string& code);
  /// Adds the compiled code and runs its top level. Exceptions of user code pass through. Functions
  /// of late_functions() that it defines are called by earlier code from then on.
  /// errors  bad_input: it could not be linked.
  Result<void> execute(clang::PartialTranslationUnit& unit);
  /// Compiles now the functions of the unit that would be compiled at their first call, so that
  /// they refer to the present definitions.
  Result<void> finish(const std::vector<std::string>& symbols);
  void undo();
  /// Removes the code of a unit that could not be linked, so that no later part is linked to it.
  void drop_code(clang::PartialTranslationUnit& unit);

  /// The parts that were parsed and kept, oldest first.
  const std::vector<clang::TranslationUnitDecl*>& parts() const { return parts_; }

 private:
  Error link_error(llvm::Error error);

  // In this order: the JIT's hooks, which run in the interpreter's destructor, use the members
  // above.
  llvm::orc::LLJIT* jit_ = nullptr;
  DiagnosticLog* log_ = nullptr;
  InclusionLog* inclusions_ = nullptr;
  std::unique_ptr<CellSources> sources_;
  LineTable line_table_;
  CheckLimits limits_;
  std::string link_errors_;  // of the JIT since they were last taken
  std::vector<clang::TranslationUnitDecl*> parts_;
  std::unordered_set<std::string> thread_locals_;  // of the executed parts
  std::unique_ptr<clang::Interpreter> interpreter_;
  std::unique_ptr<LateFunctions> late_functions_;
};

}  // namespace px::cpp
