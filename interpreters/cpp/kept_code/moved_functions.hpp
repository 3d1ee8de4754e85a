#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <unordered_set>

namespace px::cpp {

/// A module with those of the functions that can stand in another program, and with what they need
/// of the module; the module then only declares them. Left where they are: small ones, and those
/// that need something that is the module's alone. Null where none is left.
/// functions  their symbols; afterwards, of those that were moved.
std::unique_ptr<llvm::Module> move_functions(llvm::Module& module,
                                             std::unordered_set<std::string>& functions);

}  // namespace px::cpp
