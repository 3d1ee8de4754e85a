#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <unordered_set>

namespace px::cpp {

/// A module with those of the functions that can be used in another program, and with the parts of
/// the module that they need; the module then only declares them. Not moved: small ones, and those
/// that need parts that belong only to the module. Null if none is left.
/// functions  their symbols; afterwards, those of the moved ones.
std::unique_ptr<llvm::Module> move_functions(llvm::Module& module,
                                             std::unordered_set<std::string>& functions);

}  // namespace px::cpp
