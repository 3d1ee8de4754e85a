#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <map>

#include "interpreters/cpp/guard/cell_guard.hpp"
#include "interpreters/cpp/guard/cell_stack.hpp"
#include "interpreters/cpp/jit/module_passes.hpp"

namespace px::cpp {
namespace {

constexpr const char* word_symbol = "px_interrupt_word";
constexpr const char* answer_symbol = "px_answer_interrupt";
constexpr const char* begin_symbol = "px_begin_code";
constexpr const char* personality_symbol = "px_cell_personality";

llvm::Constant* interrupt_word(llvm::Module& module) {
  return module.getOrInsertGlobal(word_symbol, llvm::Type::getInt32Ty(module.getContext()));
}

llvm::FunctionCallee plain_function(llvm::Module& module, const char* symbol) {
  auto* nothing = llvm::Type::getVoidTy(module.getContext());
  return module.getOrInsertFunction(symbol, llvm::FunctionType::get(nothing, false));
}

/// The body of an OpenMP region: nothing may be thrown out of it.
bool is_parallel_region(const llvm::Function& function) {
  return function.getName().contains("omp_outlined") || function.getName().contains(".omp_");
}

/// The line of the loop that an interrupt is reported at: the last one before it jumps back.
llvm::DebugLoc line_of(const llvm::Loop& loop, const llvm::BasicBlock& latch) {
  for (auto each = latch.rbegin(); each != latch.rend(); ++each)
    if (each->getDebugLoc() && each->getDebugLoc().getLine() != 0) return each->getDebugLoc();
  return loop.getStartLoc();
}

void poll_before(llvm::Instruction* jump, const llvm::DebugLoc& line) {
  llvm::LLVMContext& context = jump->getContext();
  llvm::IRBuilder<> builder(jump);
  builder.SetCurrentDebugLocation(line);
  auto* word =
      builder.CreateLoad(builder.getInt32Ty(), interrupt_word(*jump->getModule()), true);
  auto* is_asked = builder.CreateICmpNE(word, builder.getInt32(0));
  auto* rarely = llvm::MDBuilder(context).createBranchWeights(1, 1 << 20);
  llvm::Instruction* inside = llvm::SplitBlockAndInsertIfThen(is_asked, jump, false, rarely);
  builder.SetInsertPoint(inside);
  builder.SetCurrentDebugLocation(line);
  auto* call = builder.CreateCall(plain_function(*jump->getModule(), answer_symbol));
  call->addFnAttr(llvm::Attribute::Cold);
}

/// An interrupt comes through here as an exception.
void let_exceptions_through(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoUnwind);
  function.setUWTableKind(llvm::UWTableKind::Default);
  for (llvm::BasicBlock& block : function)
    for (llvm::Instruction& instruction : block)
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
        if (!llvm::isa<llvm::IntrinsicInst>(call)) call->removeFnAttr(llvm::Attribute::NoUnwind);
}

/// The function that the JIT calls first: it calls the initializers, one of which is the cell.
bool is_first_function(const llvm::Function& function) {
  return function.getName().starts_with("__orc_init_func.");
}

void begin_code_in(llvm::Function& function) {
  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  llvm::Module& module = *function.getParent();
  builder.CreateCall(plain_function(module, begin_symbol));
  let_exceptions_through(function);
  auto* personality = llvm::FunctionType::get(builder.getInt32Ty(), true);
  function.setPersonalityFn(llvm::cast<llvm::Constant>(
      module.getOrInsertFunction(personality_symbol, personality).getCallee()));
}

}  // namespace

std::vector<std::pair<std::string, const void*>> interrupt_symbols() {
  return {{word_symbol, const_cast<const void*>(
                            static_cast<const volatile void*>(CellGuard::interrupt_word()))},
          {answer_symbol, reinterpret_cast<const void*>(&CellGuard::answer_interrupt)},
          {begin_symbol, reinterpret_cast<const void*>(&CellGuard::begin_code)},
          {personality_symbol, reinterpret_cast<const void*>(&px_cell_personality)}};
}

void add_interrupt_points(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (is_first_function(function)) begin_code_in(function);
    const llvm::DominatorTree dominators(function);
    const llvm::LoopInfo loops(dominators);
    std::map<llvm::Instruction*, llvm::DebugLoc> jumps;  // with their lines
    if (!is_parallel_region(function))
      for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
        llvm::SmallVector<llvm::BasicBlock*, 4> latches;
        loop->getLoopLatches(latches);
        for (llvm::BasicBlock* latch : latches)
          jumps.try_emplace(latch->getTerminator(), line_of(*loop, *latch));
      }
    for (const auto& [jump, line] : jumps) poll_before(jump, line);
    let_exceptions_through(function);
    function.addFnAttr("disable-tail-calls",
                       "true");  // who calls stays on the stack: see CellStack
  }
}

}  // namespace px::cpp
