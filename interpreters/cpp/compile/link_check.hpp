#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <string>
#include <vector>

namespace px::cpp {

/// Those of the symbols that neither the JIT nor the process has.
std::vector<std::string> symbols_not_found(llvm::orc::LLJIT& jit,
                                           std::vector<std::string> symbols);

}  // namespace px::cpp
