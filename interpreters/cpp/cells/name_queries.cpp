#include <clang/AST/Attr.h>
#include <clang/AST/Comment.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>

#include <set>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/name_queries.hpp"

namespace px::cpp {
namespace {

constexpr std::size_t most_names = 500;
constexpr std::size_t most_declarations = 8;  // that one name may have, to be described

constexpr const char* keywords[] = {
    "alignas",   "alignof",     "auto",         "bool",          "break",
    "case",      "catch",       "char",         "class",         "concept",
    "const",     "consteval",   "constexpr",    "constinit",     "continue",
    "co_await",  "co_return",   "co_yield",     "decltype",      "default",
    "delete",    "double",      "else",         "enum",          "explicit",
    "extern",    "false",       "float",        "for",           "friend",
    "goto",      "if",          "inline",       "int",           "long",
    "mutable",   "namespace",   "noexcept",     "nullptr",       "operator",
    "private",   "protected",   "public",       "requires",      "return",
    "short",     "signed",      "sizeof",       "static",        "struct",
    "switch",    "template",    "this",         "thread_local",  "throw",
    "true",      "try",         "typedef",      "typename",      "union",
    "unsigned",  "using",       "virtual",      "void",          "volatile",
    "while",     "static_cast", "dynamic_cast", "static_assert", "reinterpret_cast",
    "const_cast"};

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

/// Makes known what the user has written before, where it compiles.
void define(Compiler& compiler, const std::string& statements) {
  auto& generation = compiler.instance().getCodeGenOpts();
  generation.OptimizationLevel = 0;
  generation.DisableLLVMPasses = 1;
  if (statements.find_first_not_of(" \n\t") != std::string::npos) compiler.parse(statements);
}

/// Of an expression in parentheses, or of a type; null where it does not compile.
clang::QualType type_of(Compiler& compiler, const std::string& text) {
  const bool is_expression = text.starts_with("(");
  const std::string type = is_expression ? "decltype(" + text + ")" : text;
  if (!compiler.parse("using px_probe = " + type + ";")) return {};
  const auto* alias =
      llvm::dyn_cast_or_null<clang::TypedefNameDecl>(find_name(compiler, "px_probe"));
  if (!alias) return {};
  clang::QualType found = alias->getUnderlyingType();
  if (const auto* inner = found->getAs<clang::DecltypeType>()) found = inner->getUnderlyingType();
  return found;
}

clang::PrintingPolicy policy_of(Compiler& compiler) {
  clang::PrintingPolicy policy(compiler.instance().getLangOpts());
  policy.adjustForCPlusPlus();
  policy.TerseOutput = true;
  policy.SuppressInitializers = true;
  return policy;
}

/// Where the word at the cursor is looked up; null where that is unknown.
clang::DeclContext* scope_at(Compiler& compiler, const CursorContext& context) {
  if (context.connector.empty())
    return compiler.interpreter().getASTContext().getTranslationUnitDecl();
  clang::QualType type;
  if (context.connector == "::") {
    if (clang::DeclContext* scope = context_of(find_name(compiler, context.object))) return scope;
    type = type_of(compiler, context.object);
  } else {
    const bool is_pointer = context.connector == "->";
    type = type_of(compiler, (is_pointer ? "(*(" : "((") + context.object + "))");
  }
  if (type.isNull()) return nullptr;
  type = type.getNonReferenceType().getCanonicalType();
  if (!compiler.instance().getSema().isCompleteType(clang::SourceLocation(), type)) return nullptr;
  return context_of(type->getAsTagDecl());
}

/// Keeps the names that fit.
class NameCollector final : public clang::VisibleDeclConsumer {
 public:
  explicit NameCollector(std::string prefix) : prefix_(std::move(prefix)) {}

  void FoundDecl(clang::NamedDecl* declaration, clang::NamedDecl*, clang::DeclContext*,
                 bool) override {
    const auto access = declaration->getAccess();
    if (access == clang::AS_private || access == clang::AS_protected) return;
    if (const auto* identifier = declaration->getIdentifier())
      if (!llvm::isa<clang::CXXConstructorDecl>(declaration)) add(identifier->getName().str());
  }
  void add(const std::string& name) {
    const bool is_reserved = name.starts_with("_") || name == "px_probe";
    if (name.starts_with(prefix_) && (!is_reserved || prefix_.starts_with("_")))
      names_.insert(name);
  }
  std::vector<std::string> take() {
    std::vector<std::string> names(names_.begin(), names_.end());
    if (names.size() > most_names) names.resize(most_names);
    return names;
  }

 private:
  std::string prefix_;
  std::set<std::string> names_;
};

std::string description(Compiler& compiler, const clang::NamedDecl& declaration) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  declaration.print(stream, policy_of(compiler));
  stream << "\n";
  const clang::ASTContext& context = compiler.interpreter().getASTContext();
  const auto& sources = compiler.instance().getSourceManager();
  if (const auto* comment = context.getRawCommentForAnyRedecl(&declaration))
    stream << comment->getFormattedText(sources, compiler.instance().getDiagnostics()) << "\n";
  const clang::PresumedLoc place = sources.getPresumedLoc(declaration.getLocation());
  if (place.isValid() && !llvm::StringRef(place.getFilename()).starts_with("input_line_"))
    stream << "(" << place.getFilename() << ", line " << place.getLine() << ")\n";
  return text;
}

std::string macro_text(Compiler& compiler, const std::string& name) {
  clang::Preprocessor& preprocessor = compiler.instance().getPreprocessor();
  auto* identifier = preprocessor.getIdentifierInfo(name);
  const clang::MacroInfo* macro = preprocessor.getMacroInfo(identifier);
  if (!macro) return "";
  std::string text = "#define " + name;
  if (macro->isFunctionLike()) {
    std::string parameters;
    for (const auto* parameter : macro->params())
      parameters += (parameters.empty() ? "" : ", ") + parameter->getName().str();
    text += "(" + parameters + ")";
  }
  for (const clang::Token& token : macro->tokens()) text += " " + preprocessor.getSpelling(token);
  return text + "\n";
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

std::optional<std::string> spelled_type(Compiler& compiler, const std::string& expression) {
  const clang::QualType type = type_of(compiler, "(" + expression + ")");
  if (type.isNull()) return std::nullopt;
  return type.getNonReferenceType().getAsString(policy_of(compiler));
}

std::vector<std::string> names_at(Compiler& compiler, const CursorContext& context) {
  define(compiler, context.statements);
  NameCollector names(context.word);
  if (clang::DeclContext* scope = scope_at(compiler, context))
    compiler.instance().getSema().LookupVisibleDecls(scope, clang::Sema::LookupAnyName, names,
                                                     context.connector.empty());
  if (context.connector.empty()) {
    for (const char* keyword : keywords) names.add(keyword);
    if (!context.word.empty())
      for (const auto& macro : compiler.instance().getPreprocessor().macros())
        names.add(macro.first->getName().str());
  }
  return names.take();
}

std::optional<std::string> describe(Compiler& compiler, const CursorContext& context) {
  if (context.whole_word.empty()) return std::nullopt;
  define(compiler, context.statements);
  std::string text;
  clang::DeclContext* scope = scope_at(compiler, context);
  std::set<const clang::Decl*> known;
  if (scope)
    for (const clang::NamedDecl* each : look_up_all(compiler, scope, context.whole_word))
      if (known.size() < most_declarations && known.insert(each->getCanonicalDecl()).second)
        text += (text.empty() ? "" : "\n") + description(compiler, *each);
  if (text.empty() && context.connector.empty()) text = macro_text(compiler, context.whole_word);
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace px::cpp
