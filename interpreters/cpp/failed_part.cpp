#include <clang/AST/DeclCXX.h>

#include <vector>

#include <px/interpreters/cpp/failed_part.hpp>

namespace px {

void FailedPartCleaner::ReadPendingInstantiations(
    llvm::SmallVectorImpl<std::pair<clang::ValueDecl*, clang::SourceLocation>>&) {
  if (!instance_.getDiagnostics().hasErrorOccurred()) return;
  auto* part = instance_.getASTContext().getTranslationUnitDecl()->getMostRecentDecl();
  std::vector<clang::Decl*> directives;
  for (clang::Decl* declaration : part->noload_decls())
    if (llvm::isa<clang::UsingDirectiveDecl>(declaration)) directives.push_back(declaration);
  for (clang::Decl* directive : directives) part->removeDecl(directive);
}

}  // namespace px
