#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Passes/PassBuilder.h>

// What a cell does at its top, outside of loops, it does once. Putting a function with much code
// into that one place gains nothing, and the next cell that calls it would optimize and compile all
// of it again.
namespace px::cpp {

/// Keeps the optimizer from putting such functions of headers into the statements and initializers
/// at the top of a cell. Each then has code of its own, which later cells can call.
void keep_single_calls(llvm::PassBuilder& passes);

/// Whether the function, which is optimized, has code of its own for calls of this kind alone: it
/// is so small that callers in loops should have it in their own code.
bool is_for_single_calls(const llvm::Function& function);

}  // namespace px::cpp
