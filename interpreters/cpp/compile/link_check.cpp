#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "interpreters/cpp/compile/compiler.hpp"

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

}  // namespace

std::vector<std::string> missing_symbols(Compiler& compiler, const llvm::Module& module) {
  llvm::orc::LLJIT& jit = compiler.jit();
  llvm::orc::SymbolLookupSet wanted;
  std::vector<std::pair<llvm::orc::SymbolStringPtr, std::string>> names;
  for (std::string& name : needed_symbols(module)) {
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
  for (const auto& [symbol, name] : names)
    if (!found->count(symbol)) missing.push_back(llvm::demangle(name));
  std::sort(missing.begin(), missing.end());
  return missing;
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
