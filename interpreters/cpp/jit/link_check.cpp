#include "interpreters/cpp/jit/link_check.hpp"

#include "interpreters/cpp/jit/module_passes.hpp"

namespace px::cpp {
namespace {

bool is_needed(const llvm::GlobalValue& value) {
  return value.isDeclaration() && !value.use_empty() && !value.hasExternalWeakLinkage();
}

std::vector<std::string> needed_symbols(const llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::Function& function : module)
    if (is_needed(function) && !function.isIntrinsic()) names.push_back(function.getName().str());
  for (const llvm::GlobalVariable& variable : module.globals())
    if (is_needed(variable) && !variable.getName().starts_with("llvm."))
      names.push_back(variable.getName().str());
  return names;
}

/// clang emits `static const int size = 5;` of a class as a value that only the optimizer may use:
/// elsewhere some other part of the program must define the member, which users leave out.
void define_class_constants(llvm::orc::LLJIT& jit, llvm::Module& module) {
  std::vector<std::string> names;
  for (const llvm::GlobalVariable& variable : module.globals())
    if (variable.hasAvailableExternallyLinkage() && variable.isConstant())
      names.push_back(variable.getName().str());
  for (const std::string& name : symbols_not_found(jit, std::move(names)))
    module.getNamedGlobal(name)->setLinkage(llvm::GlobalValue::LinkOnceODRLinkage);
}

struct DefineClassConstants : llvm::PassInfoMixin<DefineClassConstants> {
  llvm::orc::LLJIT* jit;
  explicit DefineClassConstants(llvm::orc::LLJIT& used) : jit(&used) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    define_class_constants(*jit, module);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

}  // namespace

std::vector<std::string> symbols_not_found(llvm::orc::LLJIT& jit,
                                           std::vector<std::string> symbols) {
  llvm::orc::SymbolLookupSet wanted;
  std::vector<std::pair<llvm::orc::SymbolStringPtr, std::string>> names;
  for (std::string& name : symbols) {
    llvm::orc::SymbolStringPtr symbol = jit.getExecutionSession().intern(name);
    wanted.add(symbol, llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol);
    names.emplace_back(std::move(symbol), std::move(name));
  }
  const auto order = jit.getMainJITDylib().withLinkOrderDo(
      [](const llvm::orc::JITDylibSearchOrder& links) { return links; });
  auto found = jit.getExecutionSession().lookupFlags(llvm::orc::LookupKind::Static, order,
                                                     std::move(wanted));
  std::vector<std::string> missing;
  if (!found) {
    llvm::consumeError(found.takeError());
    return missing;
  }
  for (auto& [symbol, name] : names)
    if (!found->count(symbol)) missing.push_back(std::move(name));
  return missing;
}

std::vector<std::string> missing_symbols(llvm::orc::LLJIT& jit, const llvm::Module& module) {
  return symbols_not_found(jit, needed_symbols(module));
}

void define_constants_of_classes(llvm::PassBuilder& passes, llvm::orc::LLJIT& jit) {
  passes.registerPipelineStartEPCallback(
      [&jit](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(DefineClassConstants(jit));
      });
}

std::vector<std::string> defined_symbols(const llvm::Module& module) {
  std::vector<std::string> names;
  const auto add = [&](const llvm::GlobalValue& value) {
    if (!value.isDeclaration() && value.hasExternalLinkage() && !value.hasHiddenVisibility())
      names.push_back(value.getName().str());
  };
  for (const llvm::Function& function : module) add(function);
  for (const llvm::GlobalVariable& variable : module.globals()) add(variable);
  for (const llvm::GlobalAlias& alias : module.aliases()) add(alias);
  return names;
}

}  // namespace px::cpp
