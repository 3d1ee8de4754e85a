#include "interpreters/cpp/compile/late_functions.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Mangle.h>
#include <dlfcn.h>
#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/compile/symbol_marks.hpp"
#include "interpreters/cpp/guard/cell_failure.hpp"
#include "interpreters/cpp/jit/link_check.hpp"
#include "interpreters/cpp/messages/type_names.hpp"

namespace px::cpp {
namespace {

using llvm::orc::ExecutorAddr;

Error jit_error(llvm::Error error) {
  return {ErrorKind::bad_input, llvm::toString(std::move(error))};
}

llvm::Constant* constant_address(llvm::IRBuilder<>& builder, const void* pointer) {
  return llvm::ConstantExpr::getIntToPtr(
      builder.getInt64(reinterpret_cast<std::uintptr_t>(pointer)), builder.getPtrTy());
}

/// The function that clang makes of the statements of a cell, or of an initializer.
bool runs_with_cell(const llvm::Function& function) {
  const llvm::StringRef name = function.getName();
  return name.starts_with("__stmts__") || name.starts_with("__cxx_global_var_init") ||
         name.starts_with("_GLOBAL__");
}

bool is_used_at_once(const llvm::Value& value) {
  return std::any_of(value.user_begin(), value.user_end(), [](const llvm::User* user) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user);
    return instruction ? runs_with_cell(*instruction->getFunction()) : is_used_at_once(*user);
  });
}

/// Looks for functions that the text of a cell declares, as its own and not as those of C.
class DeclaredByCells {
 public:
  explicit DeclaredByCells(Compiler& compiler)
      : compiler_(compiler), names_(compiler.interpreter().getASTContext()) {}

  bool has(const std::string& symbol) {
    const auto& parts = compiler_.parts();
    return std::any_of(parts.rbegin(), parts.rend(),
                       [&](clang::DeclContext* part) { return has(*part, symbol); });
  }

 private:
  bool has(const clang::DeclContext& context, const std::string& symbol) {
    const auto declarations = context.noload_decls();
    return std::any_of(declarations.begin(), declarations.end(), [&](clang::Decl* each) {
      if (each->isImplicit()) return false;
      if (llvm::isa<clang::NamespaceDecl, clang::CXXRecordDecl>(each))
        return has(*llvm::cast<clang::DeclContext>(each), symbol);
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(each);
      return function && is(*function, symbol);
    });
  }

  bool is(const clang::FunctionDecl& function, const std::string& symbol) {
    const auto* name = function.getIdentifier();
    if (name && symbol.find(name->getName()) == std::string::npos) return false;
    if (function.isExternC() || function.isDependentContext() || function.isDeleted()) return false;
    if (text_of_place(compiler_.instance().getSourceManager(), function.getLocation()) != "")
      return false;
    const std::vector<std::string> all = names_.getAllManglings(&function);
    return std::count(all.begin(), all.end(), symbol) > 0 || names_.getName(&function) == symbol;
  }

  Compiler& compiler_;
  clang::ASTNameGenerator names_;
};

}  // namespace

Result<ExecutorAddr> LateFunctions::make_trap(const std::string& symbol) {
  auto context = std::make_unique<llvm::LLVMContext>();
  const std::string name = "px_undefined_" + std::to_string(stubs_.size());
  auto module = std::make_unique<llvm::Module>(name, *context);
  module->setDataLayout(jit_.getDataLayout());
  llvm::IRBuilder<> builder(*context);
  auto* nothing = llvm::FunctionType::get(builder.getVoidTy(), false);
  auto* trap =
      llvm::Function::Create(nothing, llvm::Function::ExternalLinkage, name, module.get());
  trap->setUWTableKind(llvm::UWTableKind::Default);
  builder.SetInsertPoint(llvm::BasicBlock::Create(*context, "", trap));
  const std::string& kept = stubs_.find(symbol)->first;
  builder.CreateCall(
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false),
      constant_address(builder, reinterpret_cast<const void*>(&UndefinedFunction::raise)),
      {constant_address(builder, kept.c_str())});
  builder.CreateUnreachable();
  if (llvm::Error error = jit_.addIRModule({std::move(module), std::move(context)}))
    return jit_error(std::move(error));
  auto address = jit_.lookup(name);
  if (!address) return jit_error(address.takeError());
  return *address;
}

Result<void> LateFunctions::set(const std::string& symbol, ExecutorAddr address) {
  if (llvm::Error error = manager_->updatePointer(symbol, address))
    return jit_error(std::move(error));
  return {};
}

Result<void> LateFunctions::declare(const std::vector<std::string>& symbols) {
  const auto flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
  if (!manager_)
    manager_ = llvm::orc::createLocalIndirectStubsManagerBuilder(jit_.getTargetTriple())();
  for (const std::string& symbol : symbols) {
    const auto [known, is_new] = stubs_.try_emplace(symbol);
    if (is_new) {
      const Result<ExecutorAddr> trap = make_trap(symbol);
      if (!trap) return trap.error();
      known->second.trap = *trap;
      if (llvm::Error error = manager_->createStub(symbol, *trap, flags))
        return jit_error(std::move(error));
    } else if (const Result<void> done = set(symbol, known->second.trap); !done) {
      return done;
    }
    known->second.is_undefined = true;
    if (llvm::Error error = jit_.getMainJITDylib().define(llvm::orc::absoluteSymbols(
            {{jit_.getExecutionSession().intern(symbol), manager_->findStub(symbol, false)}})))
      return jit_error(std::move(error));
  }
  return {};
}

bool LateFunctions::is_undefined(const std::string& symbol) const {
  const auto known = stubs_.find(symbol);
  return known != stubs_.end() && known->second.is_undefined;
}

std::vector<std::string> LateFunctions::defined_by(const llvm::Module& module) const {
  std::vector<std::string> symbols;
  for (const auto& [symbol, stub] : stubs_) {
    const llvm::GlobalValue* value = module.getNamedValue(symbol);
    if (stub.is_undefined && value && !value->isDeclaration()) symbols.push_back(symbol);
  }
  return symbols;
}

Result<void> LateFunctions::bind(const std::vector<std::string>& symbols) {
  auto& session = jit_.getExecutionSession();
  auto& dylib = jit_.getMainJITDylib();
  for (const std::string& symbol : symbols) {
    auto found = session.lookup({&dylib}, session.intern(symbol));
    if (!found) return jit_error(found.takeError());
    if (const Result<void> done = set(symbol, found->getAddress()); !done) return done;
    stubs_[symbol].is_undefined = false;
  }
  return {};
}

void LateFunctions::look_into_libraries() {
  for (auto& [symbol, stub] : stubs_) {
    void* const found = stub.is_undefined ? ::dlsym(RTLD_DEFAULT, symbol.c_str()) : nullptr;
    if (found && set(symbol, ExecutorAddr::fromPtr(found))) stub.is_undefined = false;
  }
}

MissingSymbols missing_in(Compiler& compiler, const llvm::Module& module) {
  DeclaredByCells declared(compiler);
  MissingSymbols missing;
  for (const std::string& symbol : missing_symbols(compiler.jit(), module)) {
    const llvm::Function* function = module.getFunction(symbol);
    if (function && !is_used_at_once(*function) && declared.has(symbol))
      missing.late.push_back(symbol);
    else
      missing.names.push_back(name_of_symbol(symbol));
  }
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && is_used_at_once(function) &&
        compiler.late_functions().is_undefined(function.getName().str()))
      missing.names.push_back(name_of_symbol(function.getName().str()));
  std::sort(missing.names.begin(), missing.names.end());
  return missing;
}

}  // namespace px::cpp
