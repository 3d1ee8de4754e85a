#include "interpreters/cpp/compile/compiler.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/Frontend/FrontendOptions.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/ExternalSemaSource.h>
#include <clang/Sema/Sema.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/Support/TargetSelect.h>

#include "interpreters/cpp/compile/changed_headers.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"
#include "interpreters/cpp/guard/guarded_calls.hpp"
#include "interpreters/cpp/jit/jit_memory.hpp"
#include "interpreters/cpp/jit/module_passes.hpp"

extern "C" void* __emutls_get_address(void*);  // for thread_local; libgcc has it in its archive

namespace px::cpp {
namespace {

/// When a part with errors was parsed, clang forgets its names; it crashes where `using namespace`
/// or an unnamed namespace is among them. This takes those out before, at the end of each part.
class FailedPartCleaner final : public clang::ExternalSemaSource {
 public:
  explicit FailedPartCleaner(Compiler& compiler) : compiler_(compiler) {}
  void ReadPendingInstantiations(
      llvm::SmallVectorImpl<std::pair<clang::ValueDecl*, clang::SourceLocation>>&) override {
    clang::CompilerInstance& instance = compiler_.instance();
    auto* part = instance.getASTContext().getTranslationUnitDecl()->getMostRecentDecl();
    if (compiler_.at_end_of_part) compiler_.at_end_of_part(*part);
    if (!instance.getDiagnostics().hasErrorOccurred()) return share_statics(compiler_, *part);
    std::vector<clang::Decl*> directives;
    for (clang::Decl* declaration : part->noload_decls())
      if (llvm::isa<clang::UsingDirectiveDecl>(declaration)) directives.push_back(declaration);
    for (clang::Decl* directive : directives) part->removeDecl(directive);
  }

 private:
  Compiler& compiler_;
};

Error clang_error(const std::string& what, llvm::Error error) {
  return {ErrorKind::bad_input, what + ": " + llvm::toString(std::move(error))};
}

llvm::orc::ExecutorSymbolDef symbol_at(const void* address) {
  return {llvm::orc::ExecutorAddr::fromPtr(address),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
}

void start_llvm() {
  static const bool is_started = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)is_started;
}

Result<std::unique_ptr<clang::CompilerInstance>> make_instance(const CompilerOptions& options,
                                                               bool uses_precompiled_header) {
  std::vector<const char*> arguments;
  for (const std::string& flag : options.flags) arguments.push_back(flag.c_str());
  // Debug information changes nothing of the code; a warning is about pragmas that are ignored,
  // another one would be about each assert() at the top of a cell.
  const bool is_debugged = CompilerOptions::has_debug_information(options.flags);
  arguments.insert(arguments.end(), {is_debugged ? "-fstandalone-debug" : "-gline-tables-only",
                                     "-fcolor-diagnostics", "-Wsource-uses-openmp",
                                     "-Wno-predefined-identifier-outside-function", "-resource-dir",
                                     options.resource_folder.c_str()});
  if (uses_precompiled_header)
    arguments.insert(arguments.end(), {"-include-pch", options.precompiled_header.c_str()});
  clang::IncrementalCompilerBuilder builder;
  builder.SetCompilerArgs(arguments);
  auto instance = builder.CreateCpp();
  if (!instance) return clang_error("clang rejected the compiler flags", instance.takeError());
  (*instance)->getCodeGenOpts().PassBuilderCallbacks.push_back(order_initializers);
  (*instance)->getCodeGenOpts().PassBuilderCallbacks.push_back(keep_calls_of_cells);
  return std::move(*instance);
}

}  // namespace

std::vector<std::string> CompilerOptions::default_flags() {
  // An endless loop shall be one, and stay interruptible.
  return {"-std=c++20", "-O2", "-march=native", "-fno-finite-loops", "-DOMPI_SKIP_MPICXX=1"};
}

bool CompilerOptions::has_debug_information(const std::vector<std::string>& flags) {
  bool has = false;
  for (const std::string& flag : flags) {
    if (flag == "-g0" || flag == "-g1" || flag == "-gline-tables-only") has = false;
    if (flag == "-g" || flag == "-g2" || flag == "-g3" || flag.starts_with("-ggdb")) has = true;
  }
  return has;
}

Result<std::unique_ptr<Compiler>> Compiler::create(const CompilerOptions& options,
                                                   bool uses_precompiled_header) {
  start_llvm();
  auto instance = make_instance(options, uses_precompiled_header);
  if (!instance) return instance.error();
  auto compiler = std::make_unique<Compiler>();
  compiler->limits_ = options.limits;
  const bool is_debugged = CompilerOptions::has_debug_information(options.flags);
  if (is_debugged && !options.source_folder.empty())
    compiler->sources_ = std::make_unique<CellSources>(options.source_folder);
  (*instance)->getCodeGenOpts().PassBuilderCallbacks.push_back(
      [made = compiler.get()](llvm::PassBuilder& passes) {
        if (made->jit_) define_constants_of_classes(passes, *made->jit_);
      });
  clang::DiagnosticsEngine& diagnostics = (*instance)->getDiagnostics();
  auto log = std::make_unique<DiagnosticLog>((*instance)->getDiagnosticOpts());
  compiler->log_ = log.get();
  diagnostics.setClient(log.release(), true);

  auto target = machine_of_cells();
  if (!target) return clang_error("LLVM does not support this processor", target.takeError());
  auto jit_builder = std::make_unique<llvm::orc::LLJITBuilder>();
  jit_builder->setObjectLinkingLayerCreator(make_linking_layer);
  jit_builder->setJITTargetMachineBuilder(std::move(*target));
  jit_builder->setNotifyCreatedCallback([made = compiler.get()](llvm::orc::LLJIT& jit) {
    made->jit_ = &jit;
    made->line_table_.watch(jit, made->sources_.get());
    jit.getExecutionSession().setErrorReporter([made](llvm::Error error) {
      made->link_errors_ += llvm::toString(std::move(error)) + "\n";
    });
    jit.getIRTransformLayer().setTransform(
        [](llvm::orc::ThreadSafeModule module, const llvm::orc::MaterializationResponsibility&) {
          module.withModuleDo([](llvm::Module& content) { add_interrupt_points(content); });
          return llvm::Expected<llvm::orc::ThreadSafeModule>(std::move(module));
        });
    // Here, as the interpreter runs some code of its own before create() is over.
    llvm::orc::SymbolMap symbols;
    for (const auto& [name, address] : interrupt_symbols())
      symbols[jit.mangleAndIntern(name)] = symbol_at(address);
    return jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols)));
  });
  auto executor = std::make_unique<clang::IncrementalExecutorBuilder>();
  executor->JITBuilder = std::move(jit_builder);
  auto interpreter = clang::Interpreter::create(std::move(*instance), std::move(executor));
  if (!interpreter)
    return clang_error("clang's interpreter did not start", interpreter.takeError());
  compiler->interpreter_ = std::move(*interpreter);
  if (!compiler->jit_) {
    auto engine = compiler->interpreter_->getExecutionEngine();  // makes the JIT where it is late
    if (!engine) return clang_error("the JIT compiler did not start", engine.takeError());
  }
  check(compiler->jit_ != nullptr);
  if (is_debugged)
    if (llvm::Error error = show_code_to_debuggers(*compiler->jit_))
      return clang_error("debuggers cannot find the code of cells", std::move(error));

  compiler->late_functions_ = std::make_unique<LateFunctions>(*compiler->jit_);
  auto cleaner = llvm::makeIntrusiveRefCnt<FailedPartCleaner>(*compiler);
  compiler->instance().getSema().addExternalSource(std::move(cleaner));
  auto inclusions = std::make_unique<InclusionLog>(compiler->instance());
  compiler->inclusions_ = inclusions.get();
  compiler->instance().getPreprocessor().addPPCallbacks(std::move(inclusions));

  auto& jit = *compiler->jit_;
  llvm::orc::SymbolMap symbols;
  const auto add = [&](const std::string& name, const void* address) {
    symbols[jit.mangleAndIntern(name)] = symbol_at(address);
  };
  for (const auto& [name, address] : options.symbols) add(name, address);
  for (const auto& [name, address] : guarded_symbols()) add(name, address);
  add("__emutls_get_address", reinterpret_cast<const void*>(&__emutls_get_address));
  if (llvm::Error error = jit.getMainJITDylib().define(llvm::orc::absoluteSymbols(symbols)))
    return clang_error("a symbol for cells is defined twice", std::move(error));
  return compiler;
}

void Compiler::abandon() {
  (void)interpreter_.release();
}

Compiler::~Compiler() = default;

/// What the JIT has said before is the cause.
Error Compiler::link_error(llvm::Error error) {
  std::string text = llvm::toString(std::move(error));
  if (const std::string cause = std::exchange(link_errors_, {}); !cause.empty())
    text = cause.substr(0, cause.find('\n'));
  return {ErrorKind::bad_input, "the cell could not be linked: " + text};
}

void Compiler::compile_nothing() {
  auto& diagnostics = instance().getDiagnostics();
  diagnostics.Report(diagnostics.getCustomDiagID(clang::DiagnosticsEngine::Error, "only read"));
}

clang::PartialTranslationUnit* Compiler::parse(const std::string& code) {
  auto unit = interpreter_->Parse(code);
  if (!unit) {
    llvm::consumeError(unit.takeError());
    return nullptr;
  }
  parts_.push_back(unit->TUPart);
  return &*unit;
}

Result<void> Compiler::execute(clang::PartialTranslationUnit& unit) {
  replace_thread_locals(*unit.TheModule, thread_locals_);
  const std::vector<std::string> awaited = late_functions_->defined_by(*unit.TheModule);
  if (sources_) sources_->name_files(*unit.TheModule);
  auto executor = interpreter_->getExecutionEngine();
  if (!executor) return link_error(executor.takeError());
  if (llvm::Error error = executor->addModule(unit)) return link_error(std::move(error));
  // Before the cell runs: it may call functions that call them.
  if (const Result<void> bound = late_functions_->bind(awaited); !bound)
    return link_error(llvm::createStringError(bound.error().what));
  if (llvm::Error error = executor->runCtors()) return link_error(std::move(error));
  return {};
}

Result<void> Compiler::finish(const std::vector<std::string>& symbols) {
  llvm::orc::SymbolLookupSet names;
  for (const std::string& symbol : symbols)
    names.add(jit_->getExecutionSession().intern(symbol),
              llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol);
  auto& dylib = jit_->getMainJITDylib();
  auto found = jit_->getExecutionSession().lookup(llvm::orc::makeJITDylibSearchOrder(&dylib),
                                                  std::move(names));
  if (!found) return link_error(found.takeError());
  return {};
}

void Compiler::undo() {
  if (llvm::Error error = interpreter_->Undo(1)) llvm::consumeError(std::move(error));
  if (!parts_.empty()) parts_.pop_back();
}

void Compiler::drop_code(clang::PartialTranslationUnit& unit) {
  if (auto executor = interpreter_->getExecutionEngine())
    llvm::consumeError(executor->removeModule(unit));
  else
    llvm::consumeError(executor.takeError());
  // What was to run first in it must not be looked for again.
  llvm::consumeError(jit_->initialize(jit_->getMainJITDylib()));
}

}  // namespace px::cpp
