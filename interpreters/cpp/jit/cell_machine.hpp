#pragma once

#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>

namespace px::cpp {

/// What the code of cells is compiled for: this processor, and memory as JitMemory has it.
inline llvm::Expected<llvm::orc::JITTargetMachineBuilder> machine_of_cells() {
  auto target = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (target) target->setRelocationModel(llvm::Reloc::PIC_).setCodeModel(llvm::CodeModel::Small);
  return target;
}

}  // namespace px::cpp
