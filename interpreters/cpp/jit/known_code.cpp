#include "interpreters/cpp/jit/known_code.hpp"

#include <utility>

#include "interpreters/cpp/jit/single_calls.hpp"

namespace px::cpp {
namespace {

/// Whether any definition of it will do. Those of thread_local variables have a module's own part.
bool does_any_definition(const llvm::Function& function) {
  const llvm::StringRef name = function.getName();
  return !function.isDeclaration() &&
         (function.hasLinkOnceODRLinkage() || function.hasWeakODRLinkage()) &&
         function.hasDefaultVisibility() && !name.starts_with("_ZTW") && !name.starts_with("_ZTH");
}

/// An alias needs the code of its module.
std::unordered_set<const llvm::GlobalObject*> named_twice(const llvm::Module& module) {
  std::unordered_set<const llvm::GlobalObject*> found;
  for (const llvm::GlobalAlias& alias : module.aliases()) found.insert(alias.getAliaseeObject());
  return found;
}

}  // namespace

void KnownCode::note(const llvm::Module& module) {
  last_.clear();
  for (const llvm::Function& function : module)
    if (does_any_definition(function) && !is_for_single_calls(function) &&
        symbols_.insert(function.getName().str()).second)
      last_.push_back(function.getName().str());
}

void KnownCode::forget_last() {
  for (const std::string& symbol : last_) symbols_.erase(symbol);
}

bool KnownCode::has(const std::string& symbol, llvm::orc::LLJIT& jit) const {
  if (symbols_.count(symbol) == 0) return false;
  auto& session = jit.getExecutionSession();
  llvm::orc::SymbolLookupSet wanted(session.intern(symbol),
                                    llvm::orc::SymbolLookupFlags::WeaklyReferencedSymbol);
  auto found = session.lookupFlags(llvm::orc::LookupKind::Static,
                                   llvm::orc::makeJITDylibSearchOrder(&jit.getMainJITDylib()),
                                   std::move(wanted));
  if (found) return !found->empty();
  llvm::consumeError(found.takeError());
  return false;
}

void KnownCode::leave_out(llvm::Module& module, llvm::orc::LLJIT& jit) const {
  const auto aliased = named_twice(module);
  for (llvm::Function& function : module) {
    if (!does_any_definition(function) || aliased.count(&function) > 0) continue;
    if (!has(function.getName().str(), jit)) continue;
    function.deleteBody();
    function.setComdat(nullptr);
  }
}

}  // namespace px::cpp
