#include <clang/AST/Attr.h>
#include <clang/AST/DeclContextInternals.h>
#include <clang/AST/DeclFriend.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/Mangle.h>
#include <clang/Lex/Lexer.h>
#include <clang/Sema/IdentifierResolver.h>
#include <clang/Sema/Scope.h>
#include <clang/Sema/Sema.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"
#include "interpreters/cpp/compile/symbol_marks.hpp"

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

/// A function that a class defines as its friend.
NamedDecl* find_friend(const clang::Decl& declaration, SourceLocation place) {
  const auto* pattern = llvm::dyn_cast<clang::ClassTemplateDecl>(&declaration);
  const auto* type =
      pattern ? pattern->getTemplatedDecl() : llvm::dyn_cast<clang::CXXRecordDecl>(&declaration);
  if (!type) return nullptr;
  for (const clang::Decl* member : type->noload_decls())
    if (const auto* friendship = llvm::dyn_cast<clang::FriendDecl>(member))
      if (NamedDecl* named = friendship->getFriendDecl(); named && is_at(*named, place))
        return named;
  return nullptr;
}

/// Where in user code the declaration of that place is; null where there is none.
NamedDecl* find_in(DeclContext& context, SourceLocation place) {
  for (clang::Decl* declaration : context.noload_decls()) {
    if (auto* named = llvm::dyn_cast<NamedDecl>(declaration))
      if (is_at(*named, place)) return named;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl, clang::EnumDecl>(declaration))
      if (auto* found = find_in(*llvm::cast<DeclContext>(declaration), place)) return found;
    if (auto* found = find_friend(*declaration, place)) return found;
  }
  return nullptr;
}

NamedDecl* find_declaration(Compiler& compiler, SourceLocation place) {
  const auto& parts = compiler.parts();
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    if (auto* found = find_in(**part, place)) return found;
  return nullptr;
}

/// What stands there in the part that was read last, whether it had errors or not.
NamedDecl* find_in_last_part(Compiler& compiler, SourceLocation place) {
  auto* part = compiler.interpreter().getASTContext().getTranslationUnitDecl()->getMostRecentDecl();
  return find_in(*part, place);
}

bool contains(clang::DeclContextLookupResult list, const NamedDecl* declaration) {
  return std::find(list.begin(), list.end(), declaration) != list.end();
}

void remove_from_lookup(DeclContext& context, NamedDecl* declaration) {
  (void)context.lookup(declaration->getDeclName());  // makes the map
  clang::StoredDeclsMap* names = context.getLookupPtr();
  if (!names) return;
  const auto entry = names->find(declaration->getDeclName());
  if (entry == names->end() || !contains(entry->second.getLookupResult(), declaration)) return;
  entry->second.remove(declaration);
  // Where there is none, clang looks into the precompiled header again.
  if (entry->second.isNull() && !context.hasExternalVisibleStorage()) names->erase(entry);
}
void remove_from_lookup(NamedDecl* declaration) {
  // Where clang looks for what has the linkage of C, wherever it was declared.
  remove_from_lookup(*declaration->getASTContext().getExternCContextDecl(), declaration);
  DeclContext* context = declaration->getDeclContext()->getRedeclContext()->getPrimaryContext();
  for (; context; context = context->getParent()) {
    remove_from_lookup(*context->getPrimaryContext(), declaration);
    if (!context->isInlineNamespace()) return;
  }
}

void remove_from_scope(clang::Sema& sema, NamedDecl* declaration) {
  const auto begin = sema.IdResolver.begin(declaration->getDeclName());
  const auto end = sema.IdResolver.end();
  if (std::find(begin, end, declaration) != end) sema.IdResolver.RemoveDecl(declaration);
  if (sema.TUScope && sema.TUScope->isDeclScope(declaration)) sema.TUScope->RemoveDecl(declaration);
}

/// A declaration of earlier cells, or one that a `using` of theirs has made.
bool is_of_cells(Compiler& compiler, const NamedDecl* declaration) {
  const auto* use = llvm::dyn_cast<clang::UsingShadowDecl>(declaration);
  const NamedDecl* written = use ? use->getIntroducer() : declaration;
  return find_declaration(compiler, declaration->getLocation()) == written;
}

/// Whether calls cannot tell two functions apart that have one name.
bool have_equal_parameters(const NamedDecl& one, const NamedDecl& other) {
  const auto* first = llvm::dyn_cast<clang::FunctionDecl>(&one);
  const auto* second = llvm::dyn_cast<clang::FunctionDecl>(&other);
  if (!first || !second || first->getNumParams() != second->getNumParams()) return false;
  const clang::ASTContext& context = one.getASTContext();
  return std::equal(first->param_begin(), first->param_end(), second->param_begin(),
                    [&](const auto* a, const auto* b) {
                      return context.hasSameUnqualifiedType(a->getType(), b->getType());
                    });
}

/// See rivals_of().
bool is_rival(const NamedDecl& earlier, const NamedDecl& later) {
  if (llvm::isa<clang::TagDecl>(later))
    return llvm::isa<clang::ValueDecl, clang::FunctionTemplateDecl>(earlier.getUnderlyingDecl());
  const auto* before = llvm::dyn_cast<clang::UsingShadowDecl>(&earlier);
  const auto* now = llvm::dyn_cast<clang::UsingShadowDecl>(&later);
  if (!before || !now) return false;
  const NamedDecl *old = before->getTargetDecl(), *chosen = now->getTargetDecl();
  return old->getCanonicalDecl() != chosen->getCanonicalDecl() &&
         have_equal_parameters(*old, *chosen);
}

/// Whether cells may take the name of that declaration for something else.
bool is_of_system(const clang::SourceManager& sources, const NamedDecl& declaration) {
  if (llvm::isa<clang::NamespaceDecl>(declaration) || !declaration.getIdentifier()) return false;
  const llvm::StringRef name = declaration.getName();
  const bool is_reserved = name.starts_with("_") || name.starts_with("px_");
  return !is_reserved && declaration.getDeclContext()->getRedeclContext()->isTranslationUnit() &&
         sources.isInSystemHeader(declaration.getLocation());
}

std::vector<NamedDecl*> system_declarations(Compiler& compiler, const std::string& name) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  clang::ASTContext& context = compiler.interpreter().getASTContext();
  std::vector<NamedDecl*> found;
  for (NamedDecl* each : context.getTranslationUnitDecl()->getPrimaryContext()->lookup(
           &context.Idents.get(name)))
    if (is_of_system(sources, *each)) found.push_back(each);
  return found;
}

/// The name that a cell defines and the system has declared; "" where the clash is another one.
std::string system_name_of(Compiler& compiler, const Clash& clash) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  clang::Token token;
  const bool has_none = clang::Lexer::getRawToken(sources.getFileLoc(clash.here), token, sources,
                                                  compiler.instance().getLangOpts(), true);
  if (has_none || !token.is(clang::tok::raw_identifier)) return "";
  std::string name = token.getRawIdentifier().str();
  return system_declarations(compiler, name).empty() ? "" : name;
}

/// Whether an identifier stands in a mangled name: its length, then itself.
bool mentions(const std::string& symbol, const std::string& identifier) {
  const std::string part = std::to_string(identifier.size()) + identifier;
  for (std::size_t at = 0; (at = symbol.find(part, at)) != std::string::npos; ++at)
    if (at == 0 || !std::isdigit(static_cast<unsigned char>(symbol[at - 1]))) return true;
  return false;
}

}  // namespace

bool ReplacedDeclarations::add(const ReplacedDeclarations& more) {
  const auto unite = [](std::vector<NamedDecl*>& known, const std::vector<NamedDecl*>& others) {
    const std::size_t before = known.size();
    for (NamedDecl* each : others)
      if (!std::count(known.begin(), known.end(), each)) known.push_back(each);
    return known.size() > before;
  };
  const std::size_t names = of_system.size();
  of_system.insert(more.of_system.begin(), more.of_system.end());
  const bool hides_more = unite(hidden, more.hidden) || of_system.size() > names;
  return unite(undefined, more.undefined) || hides_more;
}

namespace {

/// What a cell defines under a name of the system gets a symbol of its own: compiled code calls the
/// system's by this name.
void make_room_in_system(Compiler& compiler, const Clash& clash, int version,
                         Redefinition& result) {
  const std::string name = system_name_of(compiler, clash);
  if (name.empty() || !result.replaced.add({{}, {}, {name}})) return;
  const NamedDecl* later = find_in_last_part(compiler, clash.here);
  std::optional<TextEdit> mark;
  if (later && is_class(later))
    mark = mark_of_class(compiler.instance().getSourceManager(), clash.here, version);
  else if (later && llvm::isa<clang::VarDecl>(later))
    mark = mark_of_declarator(compiler, later, version);
  if (mark) result.marks.push_back(*mark);
}

}  // namespace

Redefinition read_clashes(Compiler& compiler, const std::vector<Clash>& clashes, int version) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  Redefinition result;
  for (const Clash& clash : clashes) {
    NamedDecl* earlier = find_declaration(compiler, clash.earlier);  // of a macro, maybe
    if (!earlier) earlier = find_declaration(compiler, sources.getFileLoc(clash.earlier));
    if (sources.isInSystemHeader(clash.earlier)) {
      make_room_in_system(compiler, clash, version, result);
      continue;
    }
    if (!earlier) continue;
    if (keeps_declaration(earlier)) {
      result.replaced.add({{}, {earlier}});
      continue;
    }
    // A file that is there cannot be marked, and clang confuses the instances of both templates.
    const bool has_text = text_of_place(sources, clash.here).has_value();
    if (!has_text && llvm::isa<clang::TemplateDecl>(earlier)) continue;
    if (!result.replaced.add({{earlier}, {}}) || !has_text) continue;
    const NamedDecl* later = find_in_last_part(compiler, clash.here);
    if (later && llvm::isa<clang::NamespaceDecl>(later)) continue;
    std::optional<TextEdit> mark;
    if (is_class(earlier)) mark = mark_of_class(sources, clash.here, version);
    if (is_emitted_where_used(earlier) && may_be_marked(earlier))
      mark = mark_of_declarator(compiler, later, version);
    if (mark) result.marks.push_back(*mark);
  }
  return result;
}

ReplacedDeclarations rivals_of(Compiler& compiler, clang::TranslationUnitDecl& part) {
  const clang::SourceManager& sources = compiler.instance().getSourceManager();
  ReplacedDeclarations replaced;
  for (const clang::Decl* declaration : part.noload_decls()) {
    const auto* named = llvm::dyn_cast<NamedDecl>(declaration);
    if (!named || !named->getIdentifier()) continue;
    if (!llvm::isa<clang::TagDecl, clang::UsingShadowDecl>(named)) continue;
    const auto* tag = llvm::dyn_cast<clang::TagDecl>(named);
    const bool is_defined = tag && tag->isThisDeclarationADefinition();
    for (NamedDecl* other : part.getPrimaryContext()->lookup(named->getDeclName())) {
      if (!is_rival(*other, *named)) continue;
      if (is_of_cells(compiler, other)) replaced.add({{other}, {}});
      if (is_defined && is_of_system(sources, *other))
        replaced.of_system.insert(named->getName().str());
    }
  }
  return replaced;
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
    const auto mark = is_class(named) ? mark_of_class(sources, named->getLocation(), version)
                                      : mark_of_declarator(compiler, named, version);
    if (mark && text_of_place(sources, named->getLocation()) == "") marks.push_back(*mark);
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
  return apply_edits({code}, edits).cell;
}

namespace {

/// From now on no lookup finds the declaration.
void hide(Compiler& compiler, NamedDecl* declaration) {
  clang::Sema& sema = compiler.instance().getSema();
  if (auto* enumeration = llvm::dyn_cast<clang::EnumDecl>(declaration))
    if (!enumeration->isScoped())
      for (auto* enumerator : enumeration->enumerators()) {
        remove_from_lookup(enumerator);
        remove_from_scope(sema, enumerator);
      }
  if (const auto* use = llvm::dyn_cast<clang::BaseUsingDecl>(declaration))
    for (auto* brought : use->shadows()) {
      remove_from_lookup(brought);
      remove_from_scope(sema, brought);
    }
  for (clang::Decl* each : declaration->redecls()) {
    auto* named = llvm::cast<NamedDecl>(each);
    remove_from_lookup(named);
    remove_from_scope(sema, named);
  }
}

/// It can be instantiated again, from another definition.
void forget_instance(clang::FunctionDecl& function) {
  if (function.getTemplateSpecializationKind() != clang::TSK_ImplicitInstantiation) return;
  for (clang::FunctionDecl* each : function.redecls()) {
    if (each->doesThisDeclarationHaveABody()) each->setBody(nullptr);
    if (auto* member = each->getMemberSpecializationInfo())
      member->setPointOfInstantiation({});
    else if (auto* instance = each->getTemplateSpecializationInfo())
      instance->setPointOfInstantiation({});
  }
}
void forget_instances(const clang::FunctionTemplateDecl& family) {
  for (clang::FunctionDecl* each : family.specializations()) forget_instance(*each);
}

/// The instances of a member of a class template.
void forget_instances_in(const clang::ClassTemplateSpecializationDecl& type,
                         const clang::FunctionDecl& pattern) {
  for (clang::Decl* declaration : type.noload_decls()) {
    if (const auto* family = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
      const auto* origin = family->getInstantiatedFromMemberTemplate();
      const auto* wanted = pattern.getDescribedFunctionTemplate();
      if (origin && wanted && origin->getCanonicalDecl() == wanted->getCanonicalDecl())
        forget_instances(*family);
    } else if (auto* member = llvm::dyn_cast<clang::CXXMethodDecl>(declaration)) {
      const auto* origin = member->getTemplateInstantiationPattern();
      if (origin && origin->getCanonicalDecl() == pattern.getCanonicalDecl())
        forget_instance(*member);
    }
  }
}

void undefine(clang::FunctionDecl& function) {
  if (const auto* family = function.getDescribedFunctionTemplate()) forget_instances(*family);
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(&function);
  const auto* types = method ? method->getParent()->getDescribedClassTemplate() : nullptr;
  if (types)
    for (const auto* each : types->specializations()) forget_instances_in(*each, function);
  for (clang::FunctionDecl* each : function.redecls()) {
    if (each->doesThisDeclarationHaveABody()) each->setBody(nullptr);
    if (each->isOutOfLine() && each->isDefaulted()) {
      each->setDefaulted(false);
      each->setExplicitlyDefaulted(false);
    }
  }
}

/// Instances of a static member of a class template keep their values.
void undefine(clang::VarDecl& variable) {
  for (clang::VarDecl* each : variable.redecls())
    if (each->isOutOfLine() && each->isThisDeclarationADefinition() == clang::VarDecl::Definition)
      each->demoteThisDefinitionToDeclaration();
}

/// Members that its symbol alone does not find: special ones have no name of their own, and virtual
/// ones are reached by what constructors do.
const clang::IdentifierInfo* name_in_symbols(const NamedDecl* declaration) {
  const clang::FunctionDecl* function = declaration->getAsFunction();
  const auto* method = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
  if (method && (method->isVirtual() || !declaration->getIdentifier()))
    return method->getParent()->getIdentifier();
  return declaration->getIdentifier();
}

}  // namespace

void hide_replaced(Compiler& compiler, const ReplacedDeclarations& replaced) {
  for (const std::string& name : replaced.of_system)
    for (NamedDecl* each : system_declarations(compiler, name)) hide(compiler, each);
  for (NamedDecl* each : replaced.hidden) hide(compiler, each);
  for (NamedDecl* each : replaced.undefined) {
    if (auto* variable = llvm::dyn_cast<clang::VarDecl>(each)) undefine(*variable);
    if (clang::FunctionDecl* function = each->getAsFunction()) undefine(*function);
  }
}

std::vector<std::string> symbols_of(Compiler& compiler, const NamedDecl* declaration,
                                    const std::unordered_set<std::string>& weak) {
  std::vector<std::string> symbols;
  if (llvm::isa<clang::BaseUsingDecl, clang::UsingShadowDecl>(declaration)) return symbols;
  if (llvm::isa<clang::VarDecl, clang::FunctionDecl>(declaration))
    symbols = clang::ASTNameGenerator(compiler.interpreter().getASTContext())
                  .getAllManglings(declaration);
  if (llvm::isa<clang::VarDecl, clang::FunctionDecl>(declaration) && symbols.empty())
    symbols.push_back(
        clang::ASTNameGenerator(compiler.interpreter().getASTContext()).getName(declaration));
  const auto* identifier = name_in_symbols(declaration);
  const auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration);
  if (!identifier || (variable && variable->isStaticDataMember())) return symbols;
  for (const std::string& symbol : weak)
    if (mentions(symbol, identifier->getName().str())) symbols.push_back(symbol);
  return symbols;
}

}  // namespace px::cpp
