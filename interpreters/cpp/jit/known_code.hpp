#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <string>
#include <unordered_set>
#include <vector>

namespace px::cpp {

/// Functions that several modules may define (inline ones, instances of templates) and that one has
/// defined for the program: later ones call that code, and are not optimized and compiled with a
/// copy of it. What the optimizer puts into all callers has no such code and is not concerned.
class KnownCode {
 public:
  /// The module, which is optimized, becomes part of the program.
  void note(const llvm::Module& module);
  /// Functions whose code is in the program already.
  void note(const std::vector<std::string>& symbols) {
    symbols_.insert(symbols.begin(), symbols.end());
  }
  void forget(const std::string& symbol) { symbols_.erase(symbol); }
  /// What note() got last is taken out of the program.
  void forget_last();

  /// Whether the JIT still has the code of that function.
  bool has(const std::string& symbol, llvm::orc::LLJIT& jit) const;
  /// Takes the code out of the module, which is not optimized yet, that the JIT still has.
  void leave_out(llvm::Module& module, llvm::orc::LLJIT& jit) const;
  bool is_empty() const { return symbols_.empty(); }

 private:
  std::unordered_set<std::string> symbols_;
  std::vector<std::string> last_;  // those that the last module has added
};

}  // namespace px::cpp
