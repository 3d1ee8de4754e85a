#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/Mangle.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Frontend/FrontendPluginRegistry.h>
#include <clang/Lex/Lexer.h>

#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {
namespace {

using clang::SourceLocation;

bool is_in_text_of_cell(const clang::SourceManager& sources, SourceLocation place) {
  return place.isFileID() && sources.getBufferOrFake(sources.getFileID(place))
                                 .getBufferIdentifier()
                                 .starts_with("input_line_");
}

/// The lambdas of an expression, but for those in others.
class OuterLambdas : public clang::RecursiveASTVisitor<OuterLambdas> {
 public:
  bool TraverseLambdaExpr(clang::LambdaExpr* lambda) {
    found_.push_back(lambda);
    return true;
  }
  const std::vector<const clang::LambdaExpr*>& found() const { return found_; }

 private:
  std::vector<const clang::LambdaExpr*> found_;
};

/// Finds what is private in a part and where its text must change.
class PrivateFinder {
 public:
  PrivateFinder(Compiler& compiler, SourceLocation start)
      : sources_(compiler.instance().getSourceManager()),
        language_(compiler.instance().getLangOpts()),
        cell_(sources_.getFileID(start)) {}

  void look_into(clang::DeclContext& scope) {
    for (clang::Decl* declaration : scope.noload_decls()) {
      if (llvm::isa<clang::TopLevelStmtDecl>(declaration)) has_statements_ = true;
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration))
        look_into(*llvm::cast<clang::DeclContext>(declaration));
      if (auto* type = llvm::dyn_cast<clang::TagDecl>(declaration)) look_at(*type);
      if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) look_at(*variable);
      if (auto* function = declaration->getAsFunction()) look_at(*function);
    }
  }
  std::vector<TextEdit> take() { return std::move(edits_); }

 private:
  void look_at(const clang::VarDecl& variable) {
    if (variable.getStorageClass() == clang::SC_Static) {
      replace_static(variable);
    } else if (llvm::isa<clang::DecompositionDecl>(variable)) {
      return;
    } else if (holds_lambda(variable)) {
      name_lambdas(variable);
    } else if (variable.getFormalLinkage() == clang::Linkage::Internal && variable.hasInit() &&
               !variable.hasAttr<clang::UsedAttr>() && !variable.isConstexpr() &&
               !variable.hasConstantInitialization()) {
      add(variable.getInnerLocStart(), 0, turn_of(variable) + "__attribute__((used)) ");
    }
  }

  /// Whether its type has a lambda in it, so that each part of the program has a variable of its
  /// own; that does not matter where there is nothing to keep.
  static bool holds_lambda(const clang::VarDecl& variable) {
    if (variable.getLinkageInternal() != clang::Linkage::UniqueExternal || !variable.hasInit())
      return false;
    const auto* lambda = llvm::dyn_cast<clang::LambdaExpr>(variable.getInit()->IgnoreImplicit());
    return !lambda || lambda->capture_size() > 0;
  }

  /// The lambdas of its initializer move into functions, by which all parts know them.
  void name_lambdas(const clang::VarDecl& variable) {
    OuterLambdas lambdas;
    lambdas.TraverseStmt(const_cast<clang::Expr*>(variable.getInit()));
    std::string functions;
    for (const clang::LambdaExpr* each : lambdas.found()) {
      const auto begin = sources_.getDecomposedLoc(each->getBeginLoc());
      const auto end = sources_.getDecomposedLoc(
          clang::Lexer::getLocForEndOfToken(each->getEndLoc(), 0, sources_, language_));
      if (!each->getBeginLoc().isFileID() || begin.first != cell_ || end.first != cell_) return;
      const std::size_t length = end.second - begin.second;
      const std::string call = name_of_place("px_lambda_", each->getBeginLoc()) + "()";
      const std::string text(sources_.getCharacterData(each->getBeginLoc()), length);
      functions += "inline auto " + call + " { return " + text + "; } ";
      edits_.push_back({begin.second, length, call});
    }
    if (!functions.empty()) add(variable.getInnerLocStart(), 0, functions);
  }

  std::string name_of_place(const char* prefix, SourceLocation location) const {
    const auto [file, offset] = sources_.getDecomposedLoc(location);
    return prefix + std::to_string(file.getHashValue()) + "_" + std::to_string(offset);
  }

  /// Clang takes the statements on both sides of a constant together: a variable that is
  /// initialized here keeps them apart.
  std::string turn_of(const clang::VarDecl& variable) const {
    if (!has_statements_) return "";
    return "unsigned long long " + name_of_place("px_turn_", variable.getInnerLocStart()) +
           " = __builtin_readcyclecounter(); ";
  }

  /// A type without a name makes variables of it private, too.
  void look_at(const clang::TagDecl& type) {
    if (type.getIdentifier() || type.getTypedefNameForAnonDecl() || !type.isEmbeddedInDeclarator())
      return;
    if (const auto* record = llvm::dyn_cast<clang::RecordDecl>(&type))
      if (record->isAnonymousStructOrUnion()) return;
    const SourceLocation open = type.getBraceRange().getBegin();
    add(open, 0, name_of_place(" px_unnamed_", open) + " ");
  }

  void look_at(const clang::FunctionDecl& function) {
    if (function.isCXXClassMember()) return;
    if (function.getStorageClass() == clang::SC_Static) replace_static(function);
    const bool returns_private = function.getReturnType()->getLinkage() != clang::Linkage::External;
    if (returns_private && !function.isInlined() && function.hasBody())
      add(function.getInnerLocStart(), 0, "inline ");  // then its lambdas and classes are shared
  }

  void replace_static(const clang::DeclaratorDecl& declaration) {
    for (SourceLocation at = declaration.getInnerLocStart();
         at.isFileID() && sources_.isBeforeInTranslationUnit(at, declaration.getLocation());) {
      clang::Token token;
      if (clang::Lexer::getRawToken(at, token, sources_, language_, true)) return;
      if (token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == "static")
        return add(token.getLocation(), 6, "      ");
      at = token.getEndLoc();
    }
  }

  void add(SourceLocation place, std::size_t length, const std::string& text) {
    if (!place.isFileID()) return;
    const auto [file, offset] = sources_.getDecomposedLoc(place);
    if (file == cell_) edits_.push_back({offset, length, text});
  }

  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
  clang::FileID cell_;
  bool has_statements_ = false;  // before what is looked at
  std::vector<TextEdit> edits_;
};

void make_inline(clang::FunctionDecl& function) {
  function.setStorageClass(clang::SC_None);
  function.setImplicitlyInline();
  function.invalidateCachedLinkage();
  for (clang::Decl* each : function.decls())  // a precompiled header knows their linkage, too
    if (auto* variable = llvm::dyn_cast<clang::VarDecl>(each)) variable->invalidateCachedLinkage();
}

/// Shares the static functions of a part's headers and macros, where no edit of the cell can.
class StaticsSharer {
 public:
  explicit StaticsSharer(Compiler& compiler)
      : context_(compiler.interpreter().getASTContext()),
        sources_(compiler.instance().getSourceManager()) {}

  void look_into(clang::DeclContext& scope) {
    for (clang::Decl* declaration : scope.noload_decls()) {
      if (sources_.isInSystemHeader(declaration->getLocation())) continue;
      if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration))
        look_into(*llvm::cast<clang::DeclContext>(declaration));
      if (auto* function = llvm::dyn_cast<clang::FunctionDecl>(declaration)) share(*function);
      if (auto* family = llvm::dyn_cast<clang::FunctionTemplateDecl>(declaration)) {
        share(*family->getTemplatedDecl());
        for (clang::FunctionDecl* each : family->specializations()) share(*each);
      }
    }
  }

 private:
  /// As if it was inline: compiled where it is used, with the statics in it for all.
  void share(clang::FunctionDecl& function) const {
    if (function.getStorageClass() != clang::SC_Static || function.isCXXClassMember()) return;
    if (is_in_text_of_cell(sources_, function.getInnerLocStart())) return;  // an edit does it
    keep_symbol(function);
    make_inline(function);
  }

  /// That under which the part may already use it.
  void keep_symbol(clang::NamedDecl& declaration) const {
    if (declaration.hasAttr<clang::AsmLabelAttr>() ||
        llvm::isa_and_nonnull<clang::TemplateDecl>(declaration.getDescribedTemplate()))
      return;
    const std::string symbol = clang::ASTNameGenerator(context_).getName(&declaration);
    declaration.addAttr(clang::AsmLabelAttr::CreateImplicit(context_, symbol));
  }

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
};

/// Shares their static variables, each before it is compiled. What a structured binding refers to
/// gets a symbol of its own, as no text of the cell can name it: the plain one may be that of an
/// inline variable of an earlier cell, which is compiled where its symbol is used.
class VariableSharer final : public clang::ASTConsumer {
 public:
  explicit VariableSharer(const clang::SourceManager& sources) : sources_(sources) {}

  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* each : group) look_at(*each);
    return true;
  }

  /// What is read of a precompiled header stands in no part.
  void HandleInterestingDecl(clang::DeclGroupRef group) override {
    for (clang::Decl* each : group) {
      look_at(*each);
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(each);
      if (!function || function->isCXXClassMember()) continue;
      if (sources_.isInSystemHeader(function->getLocation())) continue;
      for (clang::FunctionDecl* one : function->redecls())
        if (one->getStorageClass() == clang::SC_Static) make_inline(*one);
    }
  }

 private:
  void look_at(clang::Decl& declaration) {
    if (sources_.isInSystemHeader(declaration.getLocation())) return;
    if (llvm::isa<clang::NamespaceDecl, clang::LinkageSpecDecl>(declaration))
      for (clang::Decl* each : llvm::cast<clang::DeclContext>(declaration).noload_decls())
        look_at(*each);
    if (auto* variable = llvm::dyn_cast<clang::VarDecl>(&declaration)) share(*variable);
    if (auto* bindings = llvm::dyn_cast<clang::DecompositionDecl>(&declaration))
      if (is_in_text_of_cell(sources_, bindings->getLocation())) mark_symbols(*bindings);
  }

  static void mark_symbols(const clang::DecompositionDecl& bindings) {
    for (const clang::BindingDecl* each : bindings.bindings()) {
      clang::VarDecl* const variable = each->getHoldingVar();
      if (!variable || variable->hasAttr<clang::AbiTagAttr>()) continue;
      const std::string place = "p" + std::to_string(each->getLocation().getRawEncoding());
      llvm::StringRef tag = place;
      variable->addAttr(clang::AbiTagAttr::CreateImplicit(variable->getASTContext(), &tag, 1));
    }
  }

  /// Those that are constant have nothing to share.
  static void share(clang::VarDecl& variable) {
    if (variable.getStorageClass() != clang::SC_Static || !variable.isFileVarDecl()) return;
    if (variable.isStaticDataMember() || !variable.getIdentifier()) return;
    if (variable.isConstexpr() || variable.getType().isConstQualified()) return;
    variable.setStorageClass(clang::SC_None);
    variable.invalidateCachedLinkage();
  }

  const clang::SourceManager& sources_;
};

/// How clang takes in one more consumer of what it reads.
class ShareVariables final : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance& instance,
                                                        llvm::StringRef) override {
    return std::make_unique<VariableSharer>(instance.getSourceManager());
  }
  bool ParseArgs(const clang::CompilerInstance&, const std::vector<std::string>&) override {
    return true;
  }
  ActionType getActionType() override { return AddBeforeMainAction; }
};

const clang::FrontendPluginRegistry::Add<ShareVariables> registered(
    "px-share-variables", "share what is static with later cells");

/// Some place in the text of the cell itself: headers have texts of their own.
SourceLocation place_in_cell(const clang::SourceManager& sources,
                             clang::TranslationUnitDecl& part) {
  SourceLocation last;
  for (const clang::Decl* declaration : part.noload_decls()) {
    const SourceLocation place = declaration->getLocation();
    if (place.isValid() && is_in_text_of_cell(sources, place)) last = place;
  }
  return last;
}

}  // namespace

std::vector<TextEdit> share_privates(Compiler& compiler, clang::TranslationUnitDecl& part) {
  const SourceLocation place = place_in_cell(compiler.instance().getSourceManager(), part);
  if (place.isInvalid()) return {};
  PrivateFinder finder(compiler, place);
  finder.look_into(part);
  return finder.take();
}

void share_statics(Compiler& compiler, clang::TranslationUnitDecl& part) {
  StaticsSharer(compiler).look_into(part);
}

}  // namespace px::cpp
