#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <map>
#include <vector>

#include "interpreters/cpp/jit/module_passes.hpp"

namespace px::cpp {
namespace {

constexpr const char* list_name = "llvm.global_ctors";
constexpr std::uint64_t usual_priority = 65535;

/// What runs before the rest of a module: its priority, the function, and the variable that it is
/// for, if several modules may have it.
struct Initializer {
  llvm::Constant* content;
  llvm::Function* function;
  bool is_of_this_module;
};

std::vector<Initializer> entries_of(llvm::GlobalVariable& list) {
  std::vector<Initializer> entries;
  auto* array = llvm::dyn_cast<llvm::ConstantArray>(list.getInitializer());
  if (!array) return entries;
  for (llvm::Value* each : array->operands()) {
    auto* content = llvm::cast<llvm::ConstantStruct>(each);
    auto* priority = llvm::cast<llvm::ConstantInt>(content->getOperand(0));
    auto* function = llvm::dyn_cast<llvm::Function>(content->getOperand(1)->stripPointerCasts());
    const bool is_usual = priority->equalsInt(usual_priority) && function;
    entries.push_back({content, function, is_usual && content->getOperand(2)->isNullValue()});
  }
  return entries;
}

void replace(llvm::GlobalVariable& list, const std::vector<llvm::Constant*>& contents) {
  auto* type = llvm::ArrayType::get(contents.front()->getType(), contents.size());
  auto* made = new llvm::GlobalVariable(*list.getParent(), type, false, list.getLinkage(),
                                        llvm::ConstantArray::get(type, contents));
  made->takeName(&list);
  list.eraseFromParent();
}

/// Clang calls the initializers of variables and the statements of a cell from one function, and
/// gives those of constants entries of their own, which run before it. All of them stand in the
/// module in the order of the text.
void put_in_order(llvm::Module& module) {
  llvm::GlobalVariable* list = module.getNamedGlobal(list_name);
  if (!list || !list->hasInitializer()) return;
  const std::vector<Initializer> entries = entries_of(*list);
  const auto common = std::find_if(entries.begin(), entries.end(), [](const Initializer& each) {
    return each.is_of_this_module && each.function->getName().starts_with("_GLOBAL__sub_I_");
  });
  if (common == entries.end()) return;
  std::map<const llvm::Function*, std::size_t> places;
  for (const llvm::Function& function : module) places.emplace(&function, places.size());
  std::vector<llvm::Constant*> kept;
  for (const Initializer& each : entries) {
    if (!each.is_of_this_module || each.function == common->function) {
      kept.push_back(each.content);
      continue;
    }
    llvm::BasicBlock& calls = common->function->getEntryBlock();
    const auto later = std::find_if(calls.begin(), calls.end(), [&](llvm::Instruction& one) {
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&one);
      const llvm::Function* called = call ? call->getCalledFunction() : nullptr;
      return one.isTerminator() || (called && places[called] > places[each.function]);
    });
    llvm::IRBuilder<> builder(&calls, later);
    // A call without a place that is put in line breaks the debug information of both functions.
    if (llvm::DISubprogram* const caller = common->function->getSubprogram())
      builder.SetCurrentDebugLocation(llvm::DILocation::get(module.getContext(), 0, 0, caller));
    builder.CreateCall(each.function);
  }
  if (kept.size() < entries.size()) replace(*list, kept);
}

bool is_thread_local_elsewhere(const llvm::Value* value) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(value->stripPointerCasts());
  return variable && variable->isThreadLocal() && variable->isDeclaration();
}

/// Whether the function only hands out a thread_local that another module defines.
bool leaves_out_initializer(const llvm::Function& wrapper) {
  bool is_elsewhere = false;
  for (const llvm::BasicBlock& block : wrapper)
    for (const llvm::Instruction& each : block) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&each);
      const llvm::Value* called = call ? call->getCalledOperand() : nullptr;
      if (called && called->getName().starts_with("_ZTH")) return false;
      for (const llvm::Value* operand : each.operands())
        is_elsewhere = is_elsewhere || is_thread_local_elsewhere(operand);
    }
  return is_elsewhere;
}

/// Clang thinks that a thread_local which the program defines is initialized by each part that uses
/// it. The part that defines it has the function that does so.
void leave_to_definition(llvm::Module& module) {
  for (llvm::Function& function : module) {
    const bool is_wrapper = function.getName().starts_with("_ZTW") && !function.isDeclaration();
    if (!is_wrapper || !leaves_out_initializer(function)) continue;
    function.deleteBody();
    function.setComdat(nullptr);
  }
}

struct OrderInitializers : llvm::PassInfoMixin<OrderInitializers> {
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    put_in_order(module);
    leave_to_definition(module);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

}  // namespace

void order_initializers(llvm::PassBuilder& passes) {
  passes.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
        manager.addPass(OrderInitializers());
      });
}

}  // namespace px::cpp
