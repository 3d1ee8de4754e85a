#include "interpreters/cpp/compile/header_origin.hpp"

#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>

#include <algorithm>

namespace px::cpp {
namespace {

bool is_of_header(clang::QualType type);

bool is_of_header(const clang::TemplateArgument& argument) {
  using Kind = clang::TemplateArgument::ArgKind;
  switch (argument.getKind()) {
    case Kind::Type:
      return is_of_header(argument.getAsType());
    case Kind::Integral:
      return is_of_header(argument.getIntegralType());
    case Kind::NullPtr:
      return is_of_header(argument.getNullPtrType());
    case Kind::Template: {
      const clang::TemplateDecl* used = argument.getAsTemplate().getAsTemplateDecl();
      return used && used->isFromASTFile();
    }
    case Kind::Pack:
      return std::all_of(argument.pack_begin(), argument.pack_end(),
                         [](const auto& each) { return is_of_header(each); });
    default:
      return false;
  }
}

bool are_of_header(const clang::TemplateArgumentList& arguments) {
  const auto list = arguments.asArray();
  return std::all_of(list.begin(), list.end(), [](const auto& each) { return is_of_header(each); });
}

bool is_of_header(const clang::DeclContext& context);

/// A class or an enumeration.
bool is_of_header(const clang::TagDecl& tag) {
  if (!tag.getIdentifier() || tag.getDeclContext()->getRedeclContext()->isTranslationUnit())
    return false;
  if (const auto* instance = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&tag)) {
    if (!instance->getSpecializedTemplate()->isFromASTFile()) return false;
    if (instance->isExplicitSpecialization() && !instance->isFromASTFile()) return false;
    if (!are_of_header(instance->getTemplateArgs())) return false;
  } else if (!tag.isFromASTFile()) {
    const clang::Decl* pattern = nullptr;
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&tag))
      pattern = record->getTemplateInstantiationPattern();
    else if (const auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(&tag))
      pattern = enumeration->getTemplateInstantiationPattern();
    if (!pattern || !pattern->isFromASTFile()) return false;
  }
  return is_of_header(*tag.getDeclContext());
}

bool is_of_header(const clang::DeclContext& context) {
  if (context.isTranslationUnit()) return true;
  if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&context))
    return !space->isAnonymousNamespace() && space->getFirstDecl()->isFromASTFile() &&
           is_of_header(*space->getParent());
  if (const auto* tag = llvm::dyn_cast<clang::TagDecl>(&context)) return is_of_header(*tag);
  if (llvm::isa<clang::LinkageSpecDecl>(context)) return is_of_header(*context.getParent());
  return false;
}

bool is_of_header(clang::QualType type) {
  const clang::QualType plain = type.getCanonicalType();
  if (llvm::isa<clang::BuiltinType>(plain)) return true;
  if (const auto* function = plain->getAs<clang::FunctionProtoType>()) {
    const auto parameters = function->getParamTypes();
    return is_of_header(function->getReturnType()) &&
           std::all_of(parameters.begin(), parameters.end(),
                       [](clang::QualType each) { return is_of_header(each); });
  }
  if (const clang::QualType pointee = plain->getPointeeType(); !pointee.isNull())
    return !plain->isMemberPointerType() && is_of_header(pointee);
  if (const auto* array = llvm::dyn_cast<clang::ArrayType>(plain))
    return is_of_header(array->getElementType());
  if (const auto* vector = llvm::dyn_cast<clang::VectorType>(plain))
    return is_of_header(vector->getElementType());
  if (const auto* complex = llvm::dyn_cast<clang::ComplexType>(plain))
    return is_of_header(complex->getElementType());
  const clang::TagDecl* tag = plain->getAsTagDecl();
  return tag && is_of_header(*tag);
}

/// Whether a type of a parameter is, or refers to, one that a cell defines.
bool is_of_cells(clang::QualType type) {
  while (!type->getPointeeType().isNull()) type = type->getPointeeType();
  if (const auto* written = type->getAs<clang::TemplateSpecializationType>()) {
    const clang::TemplateDecl* used = written->getTemplateName().getAsTemplateDecl();
    return used && !used->isFromASTFile() && !llvm::isa<clang::TemplateTemplateParmDecl>(used);
  }
  const clang::TagDecl* tag = type->getAsTagDecl();
  if (const auto* instance = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(tag))
    return !instance->getSpecializedTemplate()->isFromASTFile();
  return tag && !tag->isFromASTFile();
}

bool is_operator_of_others(const clang::FunctionDecl& function) {
  if (!function.isOverloadedOperator() || llvm::isa<clang::CXXMethodDecl>(function)) return false;
  return std::none_of(function.param_begin(), function.param_end(),
                      [](const auto* each) { return is_of_cells(each->getType()); });
}

/// Of a class or variable.
template <class Specialization>
bool is_specialized_for_header(const Specialization& made) {
  return made.getSpecializedTemplate()->isFromASTFile() && are_of_header(made.getTemplateArgs());
}

bool any_changes_header(const clang::DeclContext& context, bool is_in_header);

bool changes_header(const clang::Decl& declaration, bool is_in_header) {
  if (declaration.isImplicit()) return false;
  if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&declaration))
    return any_changes_header(*space, space->getFirstDecl()->isFromASTFile());
  if (const auto* block = llvm::dyn_cast<clang::LinkageSpecDecl>(&declaration))
    return any_changes_header(*block, is_in_header);
  if (llvm::isa<clang::ClassTemplatePartialSpecializationDecl,
                clang::VarTemplatePartialSpecializationDecl>(declaration))
    return true;
  if (const auto* made = llvm::dyn_cast<clang::ClassTemplateSpecializationDecl>(&declaration))
    return is_specialized_for_header(*made);
  if (const auto* made = llvm::dyn_cast<clang::VarTemplateSpecializationDecl>(&declaration))
    return is_specialized_for_header(*made);
  if (is_in_header) return true;
  if (llvm::isa<clang::NamedDecl>(declaration) && declaration.getCanonicalDecl()->isFromASTFile())
    return true;
  const clang::Decl* named = &declaration;
  if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(named))
    named = pattern->getTemplatedDecl();
  const auto* function = llvm::dyn_cast_or_null<clang::FunctionDecl>(named);
  if (!function) return false;
  if (const clang::FunctionDecl* pattern = function->getTemplateInstantiationPattern(false))
    if (pattern->isFromASTFile()) return true;  // a specialization
  return is_operator_of_others(*function);
}

bool any_changes_header(const clang::DeclContext& context, bool is_in_header) {
  const auto declarations = context.noload_decls();
  return std::any_of(declarations.begin(), declarations.end(), [&](const clang::Decl* each) {
    return changes_header(*each, is_in_header);
  });
}

}  // namespace

bool is_of_header(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* pattern = function.getTemplateInstantiationPattern();
  const bool is_made = function.isImplicit() || function.isDefaulted();
  if (!is_made && !(pattern ? pattern : &function)->isFromASTFile()) return false;
  if (function.getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization &&
      !function.isFromASTFile())
    return false;
  const clang::TemplateArgumentList* arguments = function.getTemplateSpecializationArgs();
  if (arguments && !are_of_header(*arguments)) return false;
  return is_of_header(*function.getDeclContext());
}

bool changes_header(const clang::TranslationUnitDecl& part) {
  return any_changes_header(part, false);
}

}  // namespace px::cpp
