#pragma once

// What happens to the modules of cells between clang and the JIT.

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace px::cpp {

/// LLVM's JIT knows no thread_local of the machine's kind, as those of loaded libraries are. Each
/// one of the module becomes a call that finds this thread's copy.
/// of_cells  those that compiled code defines; the module's are added. All others are of libraries.
void replace_thread_locals(llvm::Module& module, std::unordered_set<std::string>& of_cells);

/// Lets constants be initialized where they stand in the cell, not before all else of it, and
/// thread_locals of other cells before they are used.
void order_initializers(llvm::PassBuilder& passes);
/// Keeps each call of a function of a cell a call, so that an endless recursion overflows the
/// stack.
void keep_calls_of_cells(llvm::PassBuilder& passes);
/// Puts a look at the interrupt word into every loop, tells CellGuard when the cell begins, and
/// CellStack when an exception leaves it.
void add_interrupt_points(llvm::Module& module);

/// Lets each module define the constants with a value in their class (`static const int size = 5;`)
/// that it uses and that no earlier one defines.
void define_constants_of_classes(llvm::PassBuilder& passes, llvm::orc::LLJIT& jit);

/// What the code refers to that add_interrupt_points() makes. By name, not by address: code may be
/// kept for other processes.
std::vector<std::pair<std::string, const void*>> interrupt_symbols();

/// What the code of cells is compiled for: this processor, and memory as JitMemory has it.
inline llvm::Expected<llvm::orc::JITTargetMachineBuilder> machine_of_cells() {
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (target) target->setRelocationModel(llvm::Reloc::PIC_).setCodeModel(llvm::CodeModel::Small);
  return target;
}

}  // namespace px::cpp
