#include "interpreters/cpp/assist/type_queries.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>

#include "interpreters/cpp/assist/name_queries.hpp"

namespace px::cpp {
namespace {

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
