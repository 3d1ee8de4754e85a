#include "interpreters/cpp/assist/name_queries.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>

#include "interpreters/cpp/cells/cell_text.hpp"

namespace px::cpp {
namespace {

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  std::size_t begin = name.starts_with("::") ? 2 : 0;
  for (std::size_t end; (end = name.find("::", begin)) != std::string::npos; begin = end + 2)
    parts.push_back(name.substr(begin, end - begin));
  parts.push_back(name.substr(begin));
  return parts;
}

std::vector<const clang::NamedDecl*> look_up_all(Compiler& compiler, clang::DeclContext* scope,
                                                 const std::string& name) {
  clang::Sema& sema = compiler.instance().getSema();
  for (const auto kind : {clang::Sema::LookupOrdinaryName, clang::Sema::LookupTagName}) {
    clang::LookupResult result(sema, &compiler.interpreter().getASTContext().Idents.get(name),
                               clang::SourceLocation(), kind);
    result.suppressDiagnostics();
    if (sema.LookupQualifiedName(result, scope)) return {result.begin(), result.end()};
  }
  return {};
}

const clang::NamedDecl* look_up(Compiler& compiler, clang::DeclContext* scope,
                                const std::string& name) {
  const auto found = look_up_all(compiler, scope, name);
  return found.empty() ? nullptr : found.front()->getMostRecentDecl();
}

clang::DeclContext* context_of(const clang::NamedDecl* declaration) {
  if (const auto* space = llvm::dyn_cast_or_null<clang::NamespaceDecl>(declaration))
    return const_cast<clang::NamespaceDecl*>(space);
  if (const auto* record = llvm::dyn_cast_or_null<clang::CXXRecordDecl>(declaration))
    return record->getDefinition();
  if (const auto* enumeration = llvm::dyn_cast_or_null<clang::EnumDecl>(declaration))
    return enumeration->getDefinition();
  return nullptr;
}

/// What can be looked up by its name: no type of a function, and none without a name.
bool has_plain_name(const std::string& type) {
  return type.find_first_of("<( '") == std::string::npos;
}

/// What an alias stands for; null where the name is no type.
template <class Kind>
const Kind* type_named(Compiler& compiler, const std::string& name) {
  const clang::NamedDecl* found = find_name(compiler, name);
  if (const auto* const alias = llvm::dyn_cast_or_null<clang::TypedefNameDecl>(found))
    found = alias->getUnderlyingType()->getAsTagDecl();
  if (const auto* const family = llvm::dyn_cast_or_null<clang::ClassTemplateDecl>(found))
    found = family->getTemplatedDecl();
  return llvm::dyn_cast_or_null<Kind>(found);
}

}  // namespace

clang::PrintingPolicy printing_policy(Compiler& compiler) {
  clang::PrintingPolicy policy(compiler.instance().getLangOpts());
  policy.adjustForCPlusPlus();
  policy.TerseOutput = true;
  policy.SuppressInitializers = true;
  return policy;
}

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

std::vector<std::string> variables_of_cells(Compiler& compiler) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  std::vector<std::string> names;
  for (const clang::TranslationUnitDecl* const part : compiler.parts())
    for (const clang::Decl* const each : part->decls()) {
      const auto* const variable = llvm::dyn_cast<clang::VarDecl>(each);
      if (!variable || variable->getName().empty() || variable->isInvalidDecl()) continue;
      const clang::PresumedLoc place = sources.getPresumedLoc(variable->getLocation());
      if (place.isInvalid() || !is_name_of_cell(place.getFilename())) continue;
      const std::string name = variable->getName().str();
      if (name.starts_with("_") || find_name(compiler, name) != variable) continue;
      names.push_back(name);
    }
  return names;
}

std::string enumerator_name(Compiler& compiler, const std::string& type, long long value) {
  if (!has_plain_name(type)) return "";
  const auto* const found = type_named<clang::EnumDecl>(compiler, type);
  const clang::EnumDecl* const definition = found ? found->getDefinition() : nullptr;
  if (!definition) return "";
  for (const clang::EnumConstantDecl* each : definition->enumerators())
    if (each->getInitVal().getExtValue() == value) return type + "::" + each->getName().str();
  return "";
}

std::vector<std::string> member_names(Compiler& compiler, const std::string& type) {
  const std::string name = type.ends_with('>') ? type.substr(0, type.find('<')) : type;
  if (!has_plain_name(name)) return {};
  const auto* const found = type_named<clang::CXXRecordDecl>(compiler, name);
  const clang::CXXRecordDecl* const definition = found ? found->getDefinition() : nullptr;
  if (!definition || definition->getNumBases() > 0) return {};
  std::vector<std::string> names;
  for (const clang::FieldDecl* each : definition->fields())
    if (!each->getName().empty()) names.push_back(each->getName().str());
  return names;
}

}  // namespace px::cpp
