#include <clang/AST/Attr.h>
#include <clang/AST/Comment.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>

#include <set>

#include <px/interpreters/cpp/name_queries.hpp>

namespace px {
namespace {

constexpr std::size_t max_names = 500;

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = name.starts_with("::") ? 2 : 0;
  for (std::size_t end; (end = name.find("::", begin)) != std::string::npos; begin = end + 2)
    parts.push_back(name.substr(begin, end - begin));
  parts.push_back(name.substr(begin));
  return parts;
}

const clang::NamedDecl* look_up(Compiler& compiler, clang::DeclContext* scope,
                                const std::string& name) {
  clang::Sema& sema = compiler.instance().getSema();
  clang::LookupResult result(sema, &compiler.interpreter().getASTContext().Idents.get(name),
                             clang::SourceLocation(), clang::Sema::LookupOrdinaryName);
  result.suppressDiagnostics();
  if (!sema.LookupQualifiedName(result, scope)) {
    result.clear(clang::Sema::LookupTagName);
    if (!sema.LookupQualifiedName(result, scope)) return nullptr;
  }
  return (*result.begin())->getMostRecentDecl();
}

clang::DeclContext* context_of(const clang::NamedDecl* declaration) {
  if (const auto* space = llvm::dyn_cast_or_null<clang::NamespaceDecl>(declaration))
    return const_cast<clang::NamespaceDecl*>(space);
  if (const auto* record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(declaration))
    return record->getDefinition();
  return nullptr;
}

}  // namespace

const clang::NamedDecl* find_name(Compiler& compiler, const std::string& name) {
  clang::DeclContext* scope = compiler.interpreter().getASTContext().getTranslationUnitDecl();
  const clang::NamedDecl* found = nullptr;
  for (const std::string& part : parts_of(name)) {
    if (part.empty() || !scope) return nullptr;
    found = look_up(compiler, scope, part);
    if (!found) return nullptr;
    scope = context_of(found);
  }
  return found;
}

std::optional<std::string> spelled_type(Compiler& compiler, const std::string& expression) {
  if (!compiler.parse("using px_probe = decltype((" + expression + "));")) return std::nullopt;
  const auto* alias =
      llvm::dyn_cast_or_null<clang::TypedefNameDecl>(find_name(compiler, "px_probe"));
  if (!alias) return std::nullopt;
  clang::PrintingPolicy policy(compiler.instance().getLangOpts());
  policy.SuppressScope = false;
  policy.adjustForCPlusPlus();
  clang::QualType type = alias->getUnderlyingType();
  if (const auto* decltype_type = type->getAs<clang::DecltypeType>())
    type = decltype_type->getUnderlyingType();
  return type.getNonReferenceType().getAsString(policy);
}

}  // namespace px
