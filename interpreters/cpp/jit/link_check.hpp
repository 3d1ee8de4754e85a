#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>

#include <string>
#include <vector>

namespace px::cpp {

/// The symbols that neither the JIT nor the process has.
std::vector<std::string> symbols_not_found(llvm::orc::LLJIT& jit,
                                           std::vector<std::string> symbols);

/// Symbols that the module needs and that are not available.
std::vector<std::string> missing_symbols(llvm::orc::LLJIT& jit, const llvm::Module& module);
/// The functions and variables that only the module defines, by the linker's names.
std::vector<std::string> defined_symbols(const llvm::Module& module);

}  // namespace px::cpp
