#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace px::cpp {

/// Those of the symbols that neither the JIT nor the process has.
std::vector<std::string> symbols_not_found(llvm::orc::LLJIT& jit,
                                           std::vector<std::string> symbols);

/// Symbols that the module needs and nobody has.
std::vector<std::string> missing_symbols(llvm::orc::LLJIT& jit, const llvm::Module& module);
/// The functions and variables that the module alone defines, as the linker calls them.
std::vector<std::string> defined_symbols(const llvm::Module& module);

}  // namespace px::cpp
