#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/jit/module_passes.hpp"

namespace px::cpp {
namespace {

/// The optimizer would make a loop of a function that calls itself last: an endless recursion would
/// then be an endless loop, in place of a stack overflow that is reported at once. Functions of
/// libraries stay as they are.
struct KeepCallsOfCells : llvm::PassInfoMixin<KeepCallsOfCells> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    for (llvm::Function& function : module) {
      const llvm::DISubprogram* program = function.getSubprogram();
      if (program && is_name_of_cell(program->getFilename().str()))
        function.addFnAttr("disable-tail-calls", "true");
    }
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }
};

}  // namespace

void keep_calls_of_cells(llvm::PassBuilder& passes) {
  passes.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(KeepCallsOfCells());
      });
}

}  // namespace px::cpp
