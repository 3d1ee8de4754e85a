#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <string>
#include <unordered_set>
#include <vector>

namespace px::cpp {

/// Functions that several modules may define (inline ones, instances of templates) and that one
/// module has already defined for the program: later ones call that code, and are not optimized and
/// compiled with a copy of it. Functions that the optimizer has inlined into all callers have no
/// such code and are not affected.
class KnownCode {
 public:
  /// The optimized module becomes part of the program.
  void note(const llvm::Module& module);
  /// Functions whose code is already in the program.
  void note(const std::vector<std::string>& symbols) {
    symbols_.insert(symbols.begin(), symbols.end());
  }
  void forget(const std::string& symbol) { symbols_.erase(symbol); }
  /// Removes the functions of the latest note() from the program.
  void forget_last();

  /// Whether the JIT still has the code of that function.
  bool has(const std::string& symbol, llvm::orc::LLJIT& jit) const;
  /// Removes from the module, which is not optimized yet, the code that the JIT still has.
  void leave_out(llvm::Module& module, llvm::orc::LLJIT& jit) const;
  bool is_empty() const { return symbols_.empty(); }

 private:
  std::unordered_set<std::string> symbols_;
  std::vector<std::string> last_;  // the ones that the latest module has added
};

}  // namespace px::cpp
