#include "interpreters/cpp/compile/changed_headers.hpp"

#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/Basic/FileManager.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <filesystem>

#include "interpreters/cpp/compile/symbol_marks.hpp"

namespace px::cpp {
namespace {

using clang::DeclContext;
using clang::NamedDecl;
using clang::SourceLocation;

/// Absolute, as header_versions.hpp wants it.
std::string path_of(const clang::SourceManager& sources, clang::FileEntryRef file) {
  llvm::SmallString<256> path = file.getName();
  sources.getFileManager().makeAbsolutePath(path);
  return std::filesystem::path(path.str().str()).lexically_normal().string();
}

/// Whether a place is in a header, whatever version of it.
class HeaderPlaces {
 public:
  HeaderPlaces(const clang::SourceManager& sources, std::string header)
      : sources_(sources), header_(std::move(header)) {}

  bool has(SourceLocation place) {
    const clang::FileID file = sources_.getFileID(sources_.getFileLoc(place));
    if (file.isInvalid()) return false;
    const auto known = files_.find(file);
    if (known != files_.end()) return known->second;
    const auto entry = sources_.getFileEntryRefForID(file);
    return files_[file] = entry && header_of_version(path_of(sources_, *entry)) == header_;
  }

 private:
  const clang::SourceManager& sources_;
  std::string header_;
  std::map<clang::FileID, bool> files_;
};

/// Of a function, a variable, a class or an enum, or of a template of these; null where none is.
const NamedDecl* definition_of(const NamedDecl& declaration) {
  const NamedDecl* inner = &declaration;
  if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(inner))
    if (pattern->getTemplatedDecl()) inner = pattern->getTemplatedDecl();
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(inner))
    return function->getDefinition();
  if (const auto* variable = llvm::dyn_cast<clang::VarDecl>(inner))
    return variable->getDefinition();
  const auto* type = llvm::dyn_cast<clang::TagDecl>(inner);
  return type ? type->getDefinition() : nullptr;
}

/// What the header declares, but a cell or a header of the system too, or alone defines, stays.
bool belongs_to(HeaderPlaces& header, const NamedDecl& declaration) {
  if (const NamedDecl* definition = definition_of(declaration))
    return header.has(definition->getLocation());
  return std::all_of(declaration.redecls_begin(), declaration.redecls_end(),
                     [&](const clang::Decl* each) { return header.has(each->getLocation()); });
}

bool is_specialization(const NamedDecl& declaration) {
  return llvm::isa<clang::ClassTemplateSpecializationDecl, clang::VarTemplateSpecializationDecl>(
      declaration);
}

void collect(DeclContext& context, HeaderPlaces& header, ReplacedDeclarations& replaced) {
  for (clang::Decl* declaration : context.noload_decls()) {
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration)) {
      collect(*llvm::cast<DeclContext>(declaration), header, replaced);
      continue;
    }
    auto* named = llvm::dyn_cast<NamedDecl>(declaration);
    if (!named || !named->getDeclName() || llvm::isa<clang::UsingDirectiveDecl>(named)) continue;
    if (!header.has(named->getLocation()) || is_specialization(*named)) continue;
    const auto* type = llvm::dyn_cast<NamedDecl>(named->getDeclContext());
    if (named->isOutOfLine() && type && keeps_declaration(named)) {
      if (!header.has(type->getLocation())) replaced.add({{}, {named}});
    } else if (belongs_to(header, *named)) {
      replaced.add({{named}, {}});
    }
  }
}

/// Whether a library has members of the class: they keep their symbols.
bool is_implemented_elsewhere(const clang::CXXRecordDecl& type) {
  if (type.getDescribedClassTemplate()) return false;
  return std::any_of(type.method_begin(), type.method_end(), [](const auto* method) {
    const clang::FunctionDecl* definition = nullptr;
    return !method->isImplicit() && !method->isPureVirtual() && !method->isDefaulted() &&
           !method->isDeleted() && !method->isDefined(definition);
  });
}

/// Finds where a part's headers must be marked.
class HeaderMarker {
 public:
  HeaderMarker(Compiler& compiler, const SourceText& source, int version)
      : compiler_(compiler),
        sources_(compiler.instance().getSourceManager()),
        source_(source),
        version_(version) {}

  void look_into(DeclContext& context) {
    for (clang::Decl* declaration : context.noload_decls()) {
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration))
        look_into(*llvm::cast<DeclContext>(declaration));
      else if (auto* named = llvm::dyn_cast<NamedDecl>(declaration))
        look_at(*named);
    }
  }
  std::vector<TextEdit> take() { return std::move(marks_); }

 private:
  void look_at(const NamedDecl& declaration) {
    if (!declaration.getDeclName() || declaration.getPreviousDecl()) return;
    if (declaration.isOutOfLine() || is_specialization(declaration)) return;
    const NamedDecl* inner = &declaration;
    if (const auto* pattern = llvm::dyn_cast<clang::TemplateDecl>(inner))
      if (pattern->getTemplatedDecl()) inner = pattern->getTemplatedDecl();
    if (inner->hasAttr<clang::AbiTagAttr>() || inner->isInvalidDecl()) return;
    if (const auto* type = llvm::dyn_cast<clang::CXXRecordDecl>(inner))
      return look_at_class(*type);
    mark_where_used(declaration);
  }

  void look_at_class(const clang::CXXRecordDecl& type) {
    const clang::CXXRecordDecl* definition = type.getDefinition();
    if (!definition || !is_implemented_elsewhere(*definition))
      return add(mark_of_class(sources_, type.getLocation(), version_));
    for (const auto* method : definition->methods())
      if (!method->isImplicit() && method->hasInlineBody()) mark_where_used(*method);
  }

  void mark_where_used(const NamedDecl& declaration) {
    const clang::FunctionDecl* function = declaration.getAsFunction();
    if (function && function->isExternC()) return;
    if (is_emitted_where_used(&declaration) && may_be_marked(&declaration))
      add(mark_of_declarator(compiler_, &declaration, version_));
  }

  void add(const std::optional<TextEdit>& mark) {
    if (mark && source_.headers.count(mark->in) > 0) marks_.push_back(*mark);
  }

  Compiler& compiler_;
  const clang::SourceManager& sources_;
  const SourceText& source_;
  int version_;
  std::vector<TextEdit> marks_;
};

}  // namespace

void InclusionLog::InclusionDirective(SourceLocation hash, const clang::Token& directive,
                                      llvm::StringRef, bool, clang::CharSourceRange name_range,
                                      clang::OptionalFileEntryRef file, llvm::StringRef,
                                      llvm::StringRef, const clang::Module*, bool,
                                      clang::SrcMgr::CharacteristicKind kind) {
  if (!file || clang::SrcMgr::isSystem(kind) ||
      directive.getIdentifierInfo()->getName() != "include")
    return;
  const clang::SourceManager& sources = compiler_.getSourceManager();
  Inclusion inclusion;
  const clang::FileID place = sources.getFileID(sources.getExpansionLoc(hash));
  if (!sources.getBufferOrFake(place).getBufferIdentifier().starts_with("input_line_")) {
    const auto in = sources.getFileEntryRefForID(place);
    if (!in) return;
    inclusion.in = path_of(sources, *in);
  }
  inclusion.path = path_of(sources, *file);
  const clang::CharSourceRange range = sources.getExpansionRange(name_range);  // may be a macro
  const SourceLocation end =
      range.isTokenRange() ? clang::Lexer::getLocForEndOfToken(range.getEnd(), 0, sources,
                                                               compiler_.getLangOpts())
                           : range.getEnd();
  inclusion.offset = sources.getFileOffset(range.getBegin());
  inclusion.length = sources.getFileOffset(end) - inclusion.offset;
  met_.push_back({std::move(inclusion), *file});
}

std::vector<Inclusion> InclusionLog::take() {
  clang::SourceManager& sources = compiler_.getSourceManager();
  std::map<std::string, std::size_t> stamps;
  std::vector<Inclusion> inclusions;
  for (Met& met : std::exchange(met_, {})) {
    const auto [stamp, is_new] = stamps.try_emplace(met.inclusion.path);
    if (is_new)
      if (const auto text = sources.getMemoryBufferForFileOrNone(met.file))
        stamp->second = stamp_of_text(
            std::string_view(text->getBufferStart(), text->getBufferSize()));
    met.inclusion.stamp = stamp->second;
    inclusions.push_back(std::move(met.inclusion));
  }
  return inclusions;
}

void add_texts(Compiler& compiler, const SourceText& source) {
  auto& files = compiler.instance().getFileManager();
  auto& sources = compiler.instance().getSourceManager();
  for (const auto& [path, text] : source.headers)
    sources.overrideFileContents(
        files.getVirtualFileRef(path, static_cast<off_t>(text.size()), 0),
        llvm::MemoryBuffer::getMemBufferCopy(text, path));
}

ReplacedDeclarations declarations_of_header(Compiler& compiler, const std::string& header) {
  HeaderPlaces places(compiler.instance().getSourceManager(), header);
  ReplacedDeclarations replaced;
  for (clang::TranslationUnitDecl* part : compiler.parts()) collect(*part, places, replaced);
  return replaced;
}

std::vector<std::string> macros_of_header(Compiler& compiler, const std::string& header) {
  clang::Preprocessor& preprocessor = compiler.instance().getPreprocessor();
  HeaderPlaces places(compiler.instance().getSourceManager(), header);
  std::vector<std::string> names;
  for (const auto& macro : preprocessor.macros(false)) {
    const clang::MacroInfo* body = preprocessor.getMacroInfo(macro.first);
    if (body && !body->isBuiltinMacro() && places.has(body->getDefinitionLoc()))
      names.push_back(macro.first->getName().str());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<TextEdit> marks_in_headers(Compiler& compiler, clang::TranslationUnitDecl& part,
                                       const SourceText& source, int version) {
  HeaderMarker marker(compiler, source, version);
  marker.look_into(part);
  return marker.take();
}

}  // namespace px::cpp
