#include "interpreters/cpp/jit/single_calls.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <unordered_map>

namespace px::cpp {
namespace {

constexpr const char* mark = "px-single-call";
/// Behind a call, before the optimizer has joined and removed any.
constexpr std::size_t least_behind_call = 300;
/// Of a function itself when it is optimized: the optimizer puts those with fewer into all callers,
/// and more of them where their author wants it.
constexpr unsigned least_of_own = 50, least_of_always_inline = 150;

bool runs_once(const llvm::Function& function) {
  const llvm::StringRef name = function.getName();
  return !function.isDeclaration() &&
         (name.starts_with("__cxx_global_var_init") || name.starts_with("__stmts__"));
}

bool may_be_shared(const llvm::Function& function) {
  return !function.isDeclaration() &&
         (function.hasLinkOnceODRLinkage() || function.hasWeakODRLinkage());
}

/// How many instructions stand behind a call, if all that can be shared were put there.
class Sizes {
 public:
  std::size_t of(const llvm::Function& function) {
    const auto [place, is_new] = sizes_.emplace(&function, 0);  // 0 also while it is counted
    if (!is_new) return place->second;
    std::size_t size = function.getInstructionCount();
    for (const llvm::Instruction& each : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
      const llvm::Function* called = call ? call->getCalledFunction() : nullptr;
      if (called && may_be_shared(*called)) size = std::min(size + of(*called), least_behind_call);
    }
    return sizes_[&function] = size;
  }

 private:
  std::unordered_map<const llvm::Function*, std::size_t> sizes_;
};

struct KeepSingleCalls : llvm::PassInfoMixin<KeepSingleCalls> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    Sizes sizes;
    for (llvm::Function& function : module) {
      if (!runs_once(function)) continue;
      const llvm::DominatorTree dominators(function);
      const llvm::LoopInfo loops(dominators);
      for (llvm::BasicBlock& block : function) {
        if (loops.getLoopFor(&block)) continue;
        for (llvm::Instruction& each : block) keep(each, sizes);
      }
    }
    return llvm::PreservedAnalyses::all();
  }
  static bool isRequired() { return true; }

 private:
  static void keep(llvm::Instruction& instruction, Sizes& sizes) {
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    llvm::Function* called = call ? call->getCalledFunction() : nullptr;
    if (!called || !may_be_shared(*called) || sizes.of(*called) < least_behind_call) return;
    call->setIsNoInline();
    called->addFnAttr(mark);
  }
};

}  // namespace

void keep_single_calls(llvm::PassBuilder& passes) {
  passes.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(KeepSingleCalls());
      });
}

bool is_for_single_calls(const llvm::Function& function) {
  const bool is_wanted_inline = function.hasFnAttribute(llvm::Attribute::AlwaysInline);
  return function.hasFnAttribute(mark) &&
         function.getInstructionCount() <
             (is_wanted_inline ? least_of_always_inline : least_of_own);
}

}  // namespace px::cpp
