#include <dlfcn.h>
#include <link.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <optional>
#include <vector>

#include "interpreters/cpp/jit/module_passes.hpp"

namespace px::cpp {
namespace {

/// Where a thread_local of a loaded library is, for each thread: what __tls_get_addr() reads.
struct NativePlace {
  std::uint64_t module = 0, offset = 0;
};

struct NativeSearch {
  std::uintptr_t address = 0;  // in this thread
  std::optional<NativePlace> found = {};
};

int look_at_library(dl_phdr_info* library, std::size_t, void* data) {
  auto& search = *static_cast<NativeSearch*>(data);
  const auto begin = reinterpret_cast<std::uintptr_t>(library->dlpi_tls_data);
  if (begin == 0 || search.address < begin) return 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const auto& part = library->dlpi_phdr[i];
    if (part.p_type != PT_TLS || search.address >= begin + part.p_memsz) continue;
    search.found = NativePlace{library->dlpi_tls_modid, search.address - begin};
    return 1;
  }
  return 0;
}

std::optional<NativePlace> find_native(const std::string& name) {
  NativeSearch search{reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name.c_str()))};
  if (search.address != 0) dl_iterate_phdr(look_at_library, &search);
  return search.found;
}

/// Replaces the thread_local variables of one module.
class Lowering {
 public:
  explicit Lowering(llvm::Module& module)
      : module_(module),
        word_(llvm::Type::getInt64Ty(module.getContext())),
        pointer_(llvm::PointerType::getUnqual(module.getContext())) {}

  /// It becomes what libgcc's emulation describes it with: size, alignment, its place among those
  /// of a thread, and what a thread's copy begins as. A plain variable, which may be weak.
  void replace_emulated(llvm::GlobalVariable& variable) {
    auto* type = llvm::StructType::get(word_, word_, pointer_, pointer_);
    llvm::Constant* content = nullptr;
    if (!variable.isDeclaration()) {
      const llvm::DataLayout& layout = module_.getDataLayout();
      const auto alignment = variable.getAlign().value_or(layout.getPreferredAlign(&variable));
      auto* none = llvm::ConstantPointerNull::get(pointer_);
      content =
          llvm::ConstantStruct::get(type, {word(layout.getTypeAllocSize(variable.getValueType())),
                                           word(alignment.value()), none, beginning_of(variable)});
    }
    auto* control =
        new llvm::GlobalVariable(module_, type, false, variable.getLinkage(), content, "");
    control->setVisibility(variable.getVisibility());
    control->setDSOLocal(variable.isDSOLocal());
    control->setComdat(variable.getComdat());
    replace(variable, "__emutls_get_address", *control);
    control->takeName(&variable);
    variable.eraseFromParent();
  }

  void replace_native(llvm::GlobalVariable& variable, const NativePlace& place) {
    auto* content = llvm::ConstantStruct::getAnon({word(place.module), word(place.offset)});
    auto* index = add_private(*content);
    replace(variable, "__tls_get_addr", *index);
    variable.eraseFromParent();
  }

 private:
  llvm::Constant* word(std::uint64_t number) { return llvm::ConstantInt::get(word_, number); }

  llvm::GlobalVariable* add_private(llvm::Constant& content) {
    return new llvm::GlobalVariable(module_, content.getType(), true,
                                    llvm::GlobalValue::PrivateLinkage, &content, "px_thread_local");
  }

  llvm::Constant* beginning_of(llvm::GlobalVariable& variable) {
    llvm::Constant* content = variable.getInitializer();
    if (content->isNullValue() || llvm::isa<llvm::UndefValue>(content))
      return llvm::ConstantPointerNull::get(pointer_);
    return add_private(*content);
  }

  /// Each use becomes a call: `accessor(&argument)`.
  void replace(llvm::GlobalVariable& variable, const char* accessor, llvm::Constant& argument) {
    llvm::removeFromUsedLists(module_, [&](llvm::Constant* each) { return each == &variable; });
    llvm::convertUsersOfConstantsToInstructions({&variable});
    auto* type = llvm::FunctionType::get(pointer_, {pointer_}, false);
    const llvm::FunctionCallee callee = module_.getOrInsertFunction(accessor, type);
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : variable.uses()) uses.push_back(&use);
    for (llvm::Use* use : uses) {
      auto* user = llvm::cast<llvm::Instruction>(use->getUser());
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      llvm::Instruction* place = phi ? phi->getIncomingBlock(*use)->getTerminator() : user;
      llvm::IRBuilder<> builder(place);
      builder.SetCurrentDebugLocation(user->getDebugLoc());
      llvm::Value* address = builder.CreateCall(callee, {&argument});
      auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(user);
      if (intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::threadlocal_address) {
        intrinsic->replaceAllUsesWith(address);
        intrinsic->eraseFromParent();
      } else {
        use->set(address);
      }
    }
  }

  llvm::Module& module_;
  llvm::Type* word_;
  llvm::PointerType* pointer_;
};

}  // namespace

void replace_thread_locals(llvm::Module& module, std::unordered_set<std::string>& of_cells) {
  std::vector<llvm::GlobalVariable*> variables;
  for (llvm::GlobalVariable& variable : module.globals())
    if (variable.isThreadLocal()) variables.push_back(&variable);
  Lowering lowering(module);
  for (llvm::GlobalVariable* variable : variables) {
    const std::string name = variable->getName().str();
    if (!variable->isDeclaration()) of_cells.insert(name);
    const auto native = of_cells.count(name) > 0 ? std::nullopt : find_native(name);
    if (native)
      lowering.replace_native(*variable, *native);
    else
      lowering.replace_emulated(*variable);
  }
}

}  // namespace px::cpp
