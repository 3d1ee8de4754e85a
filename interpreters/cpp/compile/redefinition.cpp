#include <clang/AST/Attr.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Mangle.h>
#include <clang/Sema/IdentifierResolver.h>
#include <clang/Sema/Scope.h>
#include <clang/Sema/Sema.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {
namespace {

using clang::DeclContext;
using clang::NamedDecl;
using clang::SourceLocation;

/// A clash may be about a parameter (its default) of the function.
bool is_at(const NamedDecl& declaration, SourceLocation place) {
  if (declaration.getDeclName() && declaration.getLocation() == place) return true;
  const clang::FunctionDecl* function = declaration.getAsFunction();
  return function && std::any_of(function->param_begin(), function->param_end(),
                                 [&](const auto* each) { return each->getLocation() == place; });
}

/// Where in user code the declaration of that place is; null where there is none.
NamedDecl* find_in(DeclContext& context, SourceLocation place) {
  for (clang::Decl* declaration : context.noload_decls()) {
    if (auto* named = llvm::dyn_cast<NamedDecl>(declaration))
      if (is_at(*named, place)) return named;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::EnumDecl>(declaration))
      if (auto* found = find_in(*llvm::cast<DeclContext>(declaration), place)) return found;
  }
  return nullptr;
}

NamedDecl* find_declaration(Compiler& compiler, SourceLocation place) {
  const auto& parts = compiler.parts();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (auto* found = find_in(**part, place)) return found;
  return nullptr;
}

bool is_class(const NamedDecl* declaration) {
  return llvm::isa<clang::CXXRecordDecl, clang::ClassTemplateDecl>(declaration);
}

/// Where a class's name may be marked: not `A::B`, not behind '}'.
std::optional<std::size_t> mark_of_class(const clang::SourceManager& sources, SourceLocation name) {
  const auto [file, offset] = sources.getDecomposedLoc(name);
  const llvm::StringRef text = sources.getBufferData(file);
  std::size_t before = offset;
  while (before > 0 && std::isspace(static_cast<unsigned char>(text[before - 1]))) --before;
  if (!name.isFileID() || before == 0) return std::nullopt;
  const unsigned char last = static_cast<unsigned char>(text[before - 1]);
  if (!std::isalpha(last) && last != ')' && last != ']') return std::nullopt;
  return offset;
}

/// Whether each part of the program that uses it has its code: clang would take the earlier one's
/// for the later one's, as they go by the same symbol. So it is with what is inline, with constants
/// (clang's way in incremental programs), with what holds a lambda, and with what got a mark in
/// place of such a thing.
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

/// Where a function or variable may be marked: behind `template <...>`, before all else.
std::optional<std::size_t> mark_of_declarator(Compiler& compiler, const NamedDecl* declaration) {
  if (const auto* pattern = llvm::dyn_cast_or_null<clang::TemplateDecl>(declaration))
    declaration = pattern->getTemplatedDecl();
  const auto* declarator = llvm::dyn_cast_or_null<clang::DeclaratorDecl>(declaration);
  if (!declarator || !declarator->getInnerLocStart().isFileID()) return std::nullopt;
  const auto& sources = compiler.instance().getSourceManager();
  return sources.getDecomposedLoc(declarator->getInnerLocStart()).second;
}

/// What stands there in the part that was read last, whether it had errors or not.
NamedDecl* find_in_last_part(Compiler& compiler, SourceLocation place) {
  auto* part = compiler.interpreter().getASTContext().getTranslationUnitDecl()->getMostRecentDecl();
  return find_in(*part, place);
}

std::string mark_text(int version) {
  return "__attribute__((abi_tag(\"v" + std::to_string(version) + "\"))) ";
}

bool contains(clang::DeclContextLookupResult list, const NamedDecl* declaration) {
  return std::find(list.begin(), list.end(), declaration) != list.end();
}

void remove_from_lookup(NamedDecl* declaration) {
  DeclContext* context = declaration->getDeclContext()->getRedeclContext()->getPrimaryContext();
  for (; context; context = context->getParent()) {
    (void)context->getPrimaryContext()->lookup(declaration->getDeclName());  // makes the map
    clang::StoredDeclsMap* names = context->getPrimaryContext()->getLookupPtr();
    if (names) {
      const auto entry = names->find(declaration->getDeclName());
      if (entry != names->end() && contains(entry->second.getLookupResult(), declaration)) {
        entry->second.remove(declaration);
        if (entry->second.isNull()) names->erase(entry);
      }
    }
    if (!context->isInlineNamespace()) return;
  }
}

void remove_from_scope(clang::Sema& sema, NamedDecl* declaration) {
  const auto begin = sema.IdResolver.begin(declaration->getDeclName());
  const auto end = sema.IdResolver.end();
  if (std::find(begin, end, declaration) != end) sema.IdResolver.RemoveDecl(declaration);
  if (sema.TUScope && sema.TUScope->isDeclScope(declaration)) sema.TUScope->RemoveDecl(declaration);
}

/// Whether an identifier stands in a mangled name: its length, then itself.
bool mentions(const std::string& symbol, const std::string& identifier) {
  const std::string part = std::to_string(identifier.size()) + identifier;
  for (std::size_t at = 0; (at = symbol.find(part, at)) != std::string::npos; ++at)
    if (at == 0 || !std::isdigit(static_cast<unsigned char>(symbol[at - 1]))) return true;
  return false;
}

}  // namespace

Redefinition read_clashes(Compiler& compiler, const std::vector<Clash>& clashes, int version) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  const std::string mark = mark_text(version);
  Redefinition result;
  for (const Clash& clash : clashes) {
    NamedDecl* earlier = find_declaration(compiler, sources.getFileLoc(clash.earlier));
    if (!earlier || sources.isInSystemHeader(earlier->getLocation())) continue;
    if (std::count(result.hidden.begin(), result.hidden.end(), earlier)) continue;
    result.hidden.push_back(earlier);
    std::optional<std::size_t> offset;
    if (is_class(earlier)) offset = mark_of_class(sources, clash.here);
    if (is_emitted_where_used(earlier))
      offset = mark_of_declarator(compiler, find_in_last_part(compiler, clash.here));
    if (offset) result.marks.push_back({*offset, 0, mark});
  }
  return result;
}

std::vector<NamedDecl*> hiding_types_of(Compiler& compiler, clang::TranslationUnitDecl& part) {
  std::vector<NamedDecl*> hiding;
  for (clang::Decl* declaration : part.noload_decls()) {
    auto* type = llvm::dyn_cast<clang::TagDecl>(declaration);
    if (!type || !type->getIdentifier()) continue;
    for (NamedDecl* other : part.getPrimaryContext()->lookup(type->getDeclName())) {
      if (!llvm::isa<clang::ValueDecl, clang::FunctionTemplateDecl>(other)) continue;
      const bool is_of_this_part = find_in(part, other->getLocation()) == other;
      if (!is_of_this_part && find_declaration(compiler, other->getLocation()) == other)
        hiding.push_back(other);
    }
  }
  return hiding;
}

std::vector<TextEdit> marks_for(Compiler& compiler, clang::TranslationUnitDecl& part,
                                const std::set<std::string>& names, int version) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  std::vector<TextEdit> marks;
  for (clang::Decl* declaration : part.noload_decls()) {
    const auto* named = llvm::dyn_cast<NamedDecl>(declaration);
    if (!named || !named->getIdentifier() || !names.count(named->getName().str())) continue;
    const NamedDecl* inner = named;
    if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(named))
      if (pattern->getTemplatedDecl()) inner = pattern->getTemplatedDecl();
    if (inner->hasAttr<clang::AbiTagAttr>() || named->getPreviousDecl()) continue;
    const auto offset = is_class(named) ? mark_of_class(sources, named->getLocation())
                                        : mark_of_declarator(compiler, named);
    const auto buffer = sources.getBufferOrFake(sources.getFileID(named->getLocation()));
    if (offset && buffer.getBufferIdentifier().starts_with("input_line_"))
      marks.push_back({*offset, 0, mark_text(version)});
  }
  return marks;
}

std::string name_unnamed_namespaces(const std::string& code) {
  static const std::regex unnamed(R"((\binline\s+)?\bnamespace(\s*)\{)");
  const std::string masked = mask_code(code).text;
  std::vector<TextEdit> edits;
  for (std::sregex_iterator match(masked.begin(), masked.end(), unnamed), end; match != end;
       ++match) {
    const auto offset = static_cast<std::size_t>(match->position());
    edits.push_back(
        {offset,
         static_cast<std::size_t>(match->length()) - 1 - static_cast<std::size_t>(match->length(2)),
         "inline namespace px_unnamed"});
  }
  return apply_edits(code, std::move(edits));
}

std::string apply_edits(std::string text, std::vector<TextEdit> edits) {
  std::sort(edits.begin(), edits.end(),
            [](const TextEdit& a, const TextEdit& b) { return a.offset > b.offset; });
  std::size_t last = std::string::npos;
  for (const TextEdit& edit : edits) {
    if (edit.offset == last || edit.offset + edit.length > text.size()) continue;
    text.replace(edit.offset, edit.length, edit.text);
    last = edit.offset;
  }
  return text;
}

void hide(Compiler& compiler, NamedDecl* declaration) {
  clang::Sema& sema = compiler.instance().getSema();
  if (auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(declaration))
    if (!enumeration->isScoped())
      for (auto* enumerator : enumeration->enumerators()) {
        remove_from_lookup(enumerator);
        remove_from_scope(sema, enumerator);
      }
  for (clang::Decl* each : declaration->redecls()) {
    auto* named = llvm::cast<NamedDecl>(each);
    remove_from_lookup(named);
    remove_from_scope(sema, named);
  }
}

std::vector<std::string> symbols_of(Compiler& compiler, const NamedDecl* declaration,
                                    const std::unordered_set<std::string>& weak) {
  std::vector<std::string> symbols;
  if (llvm::isa<clang::VarDecl, clang::FunctionDecl>(declaration))
    symbols = clang::ASTNameGenerator(compiler.interpreter().getASTContext())
                  .getAllManglings(declaration);
  if (llvm::isa<clang::VarDecl, clang::FunctionDecl>(declaration) && symbols.empty())
    symbols.push_back(
        clang::ASTNameGenerator(compiler.interpreter().getASTContext()).getName(declaration));
  const auto* identifier = declaration->getIdentifier();
  if (!identifier) return symbols;
  for (const std::string& symbol : weak)
    if (mentions(symbol, identifier->getName().str())) symbols.push_back(symbol);
  return symbols;
}

}  // namespace px::cpp
