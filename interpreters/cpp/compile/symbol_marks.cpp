#include "interpreters/cpp/compile/symbol_marks.hpp"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cctype>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/header_versions.hpp"

namespace px::cpp {

using clang::NamedDecl;
using clang::SourceLocation;

namespace {

std::string mark_text(int version) {
  return "__attribute__((abi_tag(\"v" + std::to_string(version) + "\"))) ";
}

/// Whether a declaration that begins with that text makes something that takes no such mark: one
/// there would be a mistake, for which all marks of the cell are left out.
bool makes_no_class(std::string_view before_name) {
  const std::size_t end = before_name.find_last_of(";{}");
  if (end != before_name.npos) before_name.remove_prefix(end + 1);
  const std::vector<std::string> words = identifiers_of(before_name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "enum" || word == "concept" || word == "using" || word == "typedef";
  });
}

bool is_friend(const clang::FunctionDecl* function) {
  return std::any_of(function->redecls_begin(), function->redecls_end(), [](const auto* each) {
    return each->getFriendObjectKind() != clang::Decl::FOK_None;
  });
}

}  // namespace

std::optional<std::string> text_of_place(const clang::SourceManager& sources,
                                         SourceLocation place) {
  const clang::FileID file = sources.getFileID(sources.getFileLoc(place));
  if (sources.getBufferOrFake(file).getBufferIdentifier().starts_with("input_line_")) return "";
  const auto entry = sources.getFileEntryRefForID(file);
  if (!entry) return std::nullopt;
  const std::string path = entry->getName().str();
  return header_of_version(path) != path ? std::optional(path) : std::nullopt;
}

bool is_class(const NamedDecl* declaration) {
  return llvm::isa<clang::CXXRecordDecl, clang::ClassTemplateDecl>(declaration);
}

bool is_emitted_where_used(const NamedDecl* declaration) {
  if (llvm::isa<clang::FunctionTemplateDecl, clang::VarTemplateDecl>(declaration)) return true;
  if (declaration->hasAttr<clang::AbiTagAttr>()) return true;
  const clang::ASTContext& context = declaration->getASTContext();
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration))
    return context.GetGVALinkageForFunction(function) != clang::GVA_StrongExternal;
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
    return context.GetGVALinkageForVariable(variable) != clang::GVA_StrongExternal;
  return false;
}

bool keeps_declaration(const NamedDecl* declaration) {
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration))
    return variable->isStaticDataMember() || variable->isOutOfLine();
  const clang::FunctionDecl* function = declaration->getAsFunction();
  if (!function || llvm::isa<clang::CXXDeductionGuideDecl>(function)) return false;
  return function->isOutOfLine() || is_friend(function) ||
         function->getTemplateSpecializationKind() == clang::TSK_ExplicitSpecialization;
}

bool may_be_marked(const NamedDecl* declaration) {
  const clang::FunctionDecl* function = declaration->getAsFunction();
  return !function || !llvm::isa<clang::CXXDeductionGuideDecl>(function);
}

std::optional<TextEdit> mark_of_class(const clang::SourceManager& sources, SourceLocation name,
                                      int version) {
  const auto [file, offset] = sources.getDecomposedLoc(name);
  const llvm::StringRef text = sources.getBufferData(file);
  std::size_t before = offset;
  while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1]))) --before;
  if (!name.isFileID() || before == 0) return std::nullopt;
  const unsigned char last = static_cast<unsigned char>(text[before - 1]);
  if (!std::isalpha(last) && last != ')' && last != ']') return std::nullopt;
  if (makes_no_class({text.data(), before})) return std::nullopt;
  const auto in = text_of_place(sources, name);
  if (!in) return std::nullopt;
  return TextEdit{offset, 0, mark_text(version), *in};
}

std::optional<TextEdit> mark_of_declarator(Compiler& compiler, const NamedDecl* declaration,
                                           int version) {
  if (const auto* pattern = llvm::dyn_cast_or_null<clang::TemplateDecl>(declaration))
    declaration = pattern->getTemplatedDecl();
  const auto* declarator = llvm::dyn_cast_or_null<clang::DeclaratorDecl>(declaration);
  if (!declarator || declarator->isImplicit()) return std::nullopt;  // stands in no text
  const auto& sources = compiler.instance().getSourceManager();
  SourceLocation start = declarator->getInnerLocStart();
  if (start.isMacroID() &&  // a mark may stand before a macro that begins with it
      !clang::Lexer::isAtStartOfMacroExpansion(start, sources, compiler.instance().getLangOpts(),
                                               &start))
    return std::nullopt;
  const auto in = text_of_place(sources, start);
  if (!in) return std::nullopt;
  return TextEdit{sources.getDecomposedLoc(start).second, 0, mark_text(version), *in};
}

}  // namespace px::cpp
