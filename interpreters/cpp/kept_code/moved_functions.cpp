#include "interpreters/cpp/kept_code/moved_functions.hpp"

#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "interpreters/cpp/jit/single_calls.hpp"

namespace px::cpp {
namespace {

/// Calls of smaller ones cost more than they save.
constexpr unsigned least_instructions = 25;

using Values = std::unordered_set<const llvm::GlobalValue*>;

void add_used(const llvm::Value& value, Values& used) {
  if (const auto* global = llvm::dyn_cast<llvm::GlobalValue>(&value)) {
    used.insert(global);
  } else if (const auto* constant = llvm::dyn_cast<llvm::Constant>(&value)) {
    for (const llvm::Use& each : constant->operands()) add_used(*each, used);
  }
}

/// What a definition refers to.
Values used_by(const llvm::GlobalValue& value) {
  Values used;
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value))
    if (variable->hasInitializer()) add_used(*variable->getInitializer(), used);
  if (const auto* function = llvm::dyn_cast<llvm::Function>(&value)) {
    for (const llvm::Use& each : function->operands()) add_used(*each, used);
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      for (const llvm::Use& each : instruction.operands()) add_used(*each, used);
  }
  return used;
}

/// Whether code that runs before main() in other programs, here with the cell, refers to it.
bool is_initialized_by_code(const llvm::GlobalVariable& variable) {
  return std::any_of(variable.user_begin(), variable.user_end(), [](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    if (!instruction) return false;
    const llvm::StringRef name = instruction->getFunction()->getName();
    return name.starts_with("__cxx_global_var_init") || name.starts_with("_GLOBAL__") ||
           name.starts_with("__stmts__");
  });
}

bool can_move(const llvm::GlobalValue& value) {
  if (value.isThreadLocal() || llvm::isa<llvm::GlobalAlias, llvm::GlobalIFunc>(value)) return false;
  if (value.isDeclaration() || value.hasAvailableExternallyLinkage()) return true;
  const bool may_be_twice = value.hasLinkOnceODRLinkage() || value.hasWeakODRLinkage();
  // Each module has its own of that one.
  if (!value.hasDefaultVisibility()) return value.getName() == "__clang_call_terminate";
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value)) {
    if (variable->hasLocalLinkage()) return variable->isConstant();
    return may_be_twice && !is_initialized_by_code(*variable);
  }
  return may_be_twice;
}

/// What each definition of a module needs, and which cannot leave it: those that are the module's
/// alone, and those that need one of these.
class Parts {
 public:
  explicit Parts(const llvm::Module& module) {
    for (const llvm::GlobalValue& value : module.global_values()) {
      if (!can_move(value)) fixed_.insert(&value);
      if (!value.isDeclaration()) used_[&value] = used_by(value);
    }
    for (bool has_more = true; has_more;) {
      has_more = false;
      for (const auto& [value, used] : used_) {
        if (fixed_.count(value) > 0) continue;
        if (std::none_of(used.begin(), used.end(),
                         [&](const auto* each) { return fixed_.count(each) > 0; }))
          continue;
        fixed_.insert(value);
        has_more = true;
      }
    }
    for (const llvm::GlobalAlias& alias : module.aliases()) fixed_.insert(alias.getAliaseeObject());
  }

  bool is_fixed(const llvm::GlobalValue& value) const { return fixed_.count(&value) > 0; }

  /// Adds the definition and all that it needs.
  void add_with_needs(const llvm::GlobalValue& value, Values& kept) const {
    const auto found = used_.find(&value);
    if (found == used_.end() || value.hasAvailableExternallyLinkage()) return;
    if (!kept.insert(&value).second) return;
    for (const llvm::GlobalValue* each : found->second) add_with_needs(*each, kept);
  }

 private:
  Values fixed_;
  std::unordered_map<const llvm::GlobalValue*, Values> used_;
};

/// Takes out what was cloned as a declaration without a use.
void drop_unused(llvm::Module& module) {
  for (const char* list :
       {"llvm.global_ctors", "llvm.global_dtors", "llvm.used", "llvm.compiler.used"})
    if (llvm::GlobalVariable* found = module.getNamedGlobal(list)) found->eraseFromParent();
  std::vector<llvm::GlobalValue*> unused;
  for (llvm::GlobalValue& value : module.global_values())
    if (value.isDeclaration() && value.use_empty()) unused.push_back(&value);
  for (llvm::GlobalValue* value : unused) value->eraseFromParent();
}

}  // namespace

std::unique_ptr<llvm::Module> move_functions(llvm::Module& module,
                                             std::unordered_set<std::string>& functions) {
  const Parts parts(module);
  Values kept;
  std::vector<llvm::Function*> moved;
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getInstructionCount() < least_instructions) continue;
    if (is_for_single_calls(function)) continue;
    if (functions.count(function.getName().str()) == 0 || parts.is_fixed(function)) continue;
    if (!function.hasLinkOnceODRLinkage() && !function.hasWeakODRLinkage()) continue;
    parts.add_with_needs(function, kept);
    moved.push_back(&function);
  }
  functions.clear();
  if (moved.empty()) return nullptr;
  llvm::ValueToValueMapTy places;
  auto made = llvm::CloneModule(
      module, places, [&](const llvm::GlobalValue* value) { return kept.count(value) > 0; });
  llvm::StripDebugInfo(*made);
  drop_unused(*made);
  for (llvm::Function* function : moved) {
    functions.insert(function->getName().str());
    function->deleteBody();
    function->setComdat(nullptr);
  }
  return made;
}

}  // namespace px::cpp
