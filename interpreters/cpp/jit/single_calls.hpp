#pragma once

#include <llvm/IR/Function.h>
#include <llvm/Passes/PassBuilder.h>

// Code at the top of a cell, outside of loops, runs once. Inlining a function with much code there
// gains nothing, and the next cell that calls it would optimize and compile all of it again.
namespace px::cpp {

/// Prevents that the optimizer inlines such functions of headers into the statements and
/// initializers at the top of a cell. Each has separate code, which later cells can call.
void keep_single_calls(llvm::PassBuilder& passes);

/// Whether the optimized function has separate code only for calls of this kind: it is so small
/// that callers in loops should inline it.
bool is_for_single_calls(const llvm::Function& function);

}  // namespace px::cpp
