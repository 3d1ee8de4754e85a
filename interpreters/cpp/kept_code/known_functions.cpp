#include "interpreters/cpp/kept_code/known_functions.hpp"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/Sema/MultiplexExternalSemaSource.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <algorithm>
#include <unordered_set>

#include "interpreters/cpp/compile/compiler.hpp"
#include "interpreters/cpp/jit/known_code.hpp"
#include "interpreters/cpp/jit/single_calls.hpp"
#include "interpreters/cpp/kept_code/header_code.hpp"

namespace px::cpp {
namespace {

/// Whether any module may define it.
bool may_any_module_define(const clang::FunctionDecl& function) {
  if (function.isDependentContext() || !function.isExternallyVisible()) return false;
  return function.isInlined() ||
         function.getTemplateSpecializationKind() == clang::TSK_ImplicitInstantiation;
}

/// Tells clang which functions are defined elsewhere. It would still make code of them for the
/// optimizer to inline, but for those that may not be inlined.
class KnownFunctions {
 public:
  KnownFunctions(Compiler& compiler, const KnownCode& known, HeaderCode* header)
      : jit_(compiler.jit()),
        known_(known),
        header_(header),
        names_(compiler.interpreter().getASTContext()) {}

  bool has(const clang::Decl& declaration) {
    const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration);
    if (!function || !may_any_module_define(*function)) return false;
    if (header_) header_->note(*function);
    const bool has_several_symbols =
        llvm::isa<clang::CXXConstructorDecl, clang::CXXDestructorDecl>(*function);
    if (known_.is_empty() || (has_several_symbols && !header_)) return false;
    auto& changed = *const_cast<clang::FunctionDecl*>(function);
    const std::vector<std::string> symbols = symbols_of_function(names_, *function);
    const bool is_known =
        !symbols.empty() && std::all_of(symbols.begin(), symbols.end(), [&](const auto& symbol) {
          return known_.has(symbol, jit_);
        });
    if (is_known && !function->hasAttr<clang::NoInlineAttr>() && marked_.insert(function).second)
      changed.addAttr(clang::NoInlineAttr::CreateImplicit(function->getASTContext()));
    if (!is_known && marked_.erase(function) > 0) changed.dropAttr<clang::NoInlineAttr>();
    return is_known;
  }

 private:
  llvm::orc::LLJIT& jit_;
  const KnownCode& known_;
  HeaderCode* header_;
  clang::ASTNameGenerator names_;
  std::unordered_set<const clang::FunctionDecl*> marked_;
};

/// What clang asks, beside or in place of the precompiled header.
template <class Base>
class Source final : public Base {
 public:
  template <class... Bases>
  Source(Compiler& compiler, const KnownCode& known, HeaderCode* header, Bases... bases)
      : Base(std::move(bases)...), functions_(compiler, known, header) {}
  using ExtKind = clang::ExternalASTSource::ExtKind;
  ExtKind hasExternalDefinitions(const clang::Decl* declaration) override {
    if (functions_.has(*declaration)) return clang::ExternalASTSource::EK_Always;
    return Base::hasExternalDefinitions(declaration);
  }

 private:
  KnownFunctions functions_;
};

struct LeaveOutKnownCode : llvm::PassInfoMixin<LeaveOutKnownCode> {
  const KnownCode* known;
  llvm::orc::LLJIT* jit;
  LeaveOutKnownCode(const KnownCode& code, llvm::orc::LLJIT& used) : known(&code), jit(&used) {}
  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    known->leave_out(module, *jit);
    return llvm::PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

void ask_when_code_is_made(Compiler& compiler, const KnownCode& known, HeaderCode* header) {
  using clang::ExternalSemaSource;
  clang::ASTContext& context = compiler.interpreter().getASTContext();
  if (!context.getExternalSource())
    return context.setExternalSource(
        llvm::makeIntrusiveRefCnt<Source<ExternalSemaSource>>(compiler, known, header));
  const llvm::IntrusiveRefCntPtr<ExternalSemaSource> precompiled(
      llvm::dyn_cast<ExternalSemaSource>(context.getExternalSource()));
  if (precompiled)
    context.setExternalSource(llvm::makeIntrusiveRefCnt<Source<clang::MultiplexExternalSemaSource>>(
        compiler, known, header, precompiled, llvm::makeIntrusiveRefCnt<ExternalSemaSource>()));
}

void ask_before_optimization(Compiler& compiler, const KnownCode& known) {
  compiler.instance().getCodeGenOpts().PassBuilderCallbacks.push_back(
      [&known, &jit = compiler.jit()](llvm::PassBuilder& passes) {
        passes.registerPipelineStartEPCallback(
            [&known, &jit](llvm::ModulePassManager& manager, llvm::OptimizationLevel) {
              manager.addPass(LeaveOutKnownCode(known, jit));
              manager.addPass(llvm::GlobalDCEPass());  // what these functions alone have called
            });
      });
}

}  // namespace

void skip_known_functions(Compiler& compiler, const KnownCode& known, HeaderCode* header) {
  ask_when_code_is_made(compiler, known, header);
  ask_before_optimization(compiler, known);
  // Behind it, as it counts the code that is left.
  compiler.instance().getCodeGenOpts().PassBuilderCallbacks.push_back(keep_single_calls);
}

}  // namespace px::cpp
