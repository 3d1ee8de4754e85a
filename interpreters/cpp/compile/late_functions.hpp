#pragma once

#include <llvm/ExecutionEngine/Orc/IndirectionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "wire/error.hpp"

namespace px::cpp {

class Compiler;

/// Functions that cells declare and call, but do not define yet: each is a stub that throws
/// UndefinedFunction, or calls the function once a cell has defined it. Identified by their
/// symbols.
class LateFunctions {
 public:
  explicit LateFunctions(llvm::orc::LLJIT& jit) : jit_(jit) {}

  /// From now on code that uses these symbols can be linked.
  /// errors  bad_input: LLVM's message.
  Result<void> declare(const std::vector<std::string>& symbols);
  bool is_undefined(const std::string& symbol) const;
  /// The undefined ones that the module defines.
  std::vector<std::string> defined_by(const llvm::Module& module) const;
  /// The program now has them, under their symbols: earlier code calls them from now on.
  Result<void> bind(const std::vector<std::string>& symbols);
  /// Calls bind() for functions in a library that was just loaded.
  void look_into_libraries();

 private:
  struct Stub {
    llvm::orc::ExecutorAddr trap;  ///< Throws.
    bool is_undefined = true;
  };
  Result<llvm::orc::ExecutorAddr> make_trap(const std::string& symbol);
  Result<void> set(const std::string& symbol, llvm::orc::ExecutorAddr address);

  llvm::orc::LLJIT& jit_;
  std::unique_ptr<llvm::orc::IndirectStubsManager> manager_;
  std::map<std::string, Stub> stubs_;
};

/// The symbols that a module of a cell needs and that are not available.
struct MissingSymbols {
  std::vector<std::string> names = {};  ///< Readable, sorted: the module cannot run without these.
  /// Symbols of functions that the text of a cell declares, and that no statement of this cell
  /// calls directly: a later cell may define them.
  std::vector<std::string> late = {};
};
MissingSymbols missing_in(Compiler& compiler, const llvm::Module& module);

}  // namespace px::cpp
