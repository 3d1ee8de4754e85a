#pragma once

#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Passes/PassBuilder.h>

namespace px::cpp {

/// Lets each module define the constants with a value in their class (`static const int size = 5;`)
/// that it uses and that no earlier one defines.
void define_constants_of_classes(llvm::PassBuilder& passes, llvm::orc::LLJIT& jit);

}  // namespace px::cpp
