#include <clang/AST/DeclCXX.h>

#include <vector>

#include "interpreters/cpp/compile/failed_part.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {

void FailedPartCleaner::ReadPendingInstantiations(
    llvm::SmallVectorImpl<std::pair<clang::ValueDecl*, clang::SourceLocation>>&) {
  clang::CompilerInstance& instance = compiler_.instance();
  auto* part = instance.getASTContext().getTranslationUnitDecl()->getMostRecentDecl();
  if (compiler_.at_end_of_part) compiler_.at_end_of_part(*part);
  if (!instance.getDiagnostics().hasErrorOccurred()) return share_statics(compiler_, *part);
  std::vector<clang::Decl*> directives;
  for (clang::Decl* declaration : part->noload_decls())
    if (llvm::isa<clang::UsingDirectiveDecl>(declaration)) directives.push_back(declaration);
  for (clang::Decl* directive : directives) part->removeDecl(directive);
}

}  // namespace px::cpp
