#pragma once

// The changes to the modules of cells between clang and the JIT.

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace px::cpp {

/// LLVM's JIT does not support the machine's thread_locals, which loaded libraries have. Each one
/// of the module becomes a call that finds this thread's copy.
/// of_cells  those that compiled code defines; the module's are added. All others are of libraries.
void replace_thread_locals(llvm::Module& module, std::unordered_set<std::string>& of_cells);

/// Initializes constants at their position in the cell, instead of before the rest of it, and
/// thread_locals of other cells before they are used.
void order_initializers(llvm::PassBuilder& passes);
/// Prevents that calls of functions of a cell are replaced by loops, so that an endless recursion
/// overflows the stack.
void keep_calls_of_cells(llvm::PassBuilder& passes);
/// Adds a check of the interrupt word to every loop, tells CellGuard when the cell begins, and
/// CellStack when an exception leaves it.
void add_interrupt_points(llvm::Module& module);

/// Makes each module define the constants with a value in their class (`static const int size =
/// 5;`) that it uses and that no earlier one defines.
void define_constants_of_classes(llvm::PassBuilder& passes, llvm::orc::LLJIT& jit);

/// The symbols to which the code made by add_interrupt_points() refers. By name, not by address:
/// code may be stored for other processes.
std::vector<std::pair<std::string, const void*>> interrupt_symbols();

/// The target of the code of cells: this processor, and memory in the form of JitMemory.
inline llvm::Expected<llvm::orc::JITTargetMachineBuilder> machine_of_cells() {
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (target) target->setRelocationModel(llvm::Reloc::PIC_).setCodeModel(llvm::CodeModel::Small);
  return target;
}

}  // namespace px::cpp
