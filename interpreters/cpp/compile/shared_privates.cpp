#include <clang/AST/Attr.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {
namespace {

using clang::SourceLocation;

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
      if (auto* space = llvm::dyn_cast<clang::NamespaceDecl>(declaration)) look_into(*space);
      if (auto* variable = llvm::dyn_cast<clang::VarDecl>(declaration)) look_at(*variable);
      if (auto* function = declaration->getAsFunction()) look_at(*function);
    }
  }
  std::vector<TextEdit> take() { return std::move(edits_); }

 private:
  void look_at(const clang::VarDecl& variable) {
    if (llvm::isa<clang::DecompositionDecl>(variable)) return;
    if (variable.getStorageClass() == clang::SC_Static) {
      replace_static(variable);
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

  void look_at(const clang::FunctionDecl& function) {
    if (function.getStorageClass() == clang::SC_Static && !function.isCXXClassMember())
      replace_static(function);
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

/// Some place in the text of the cell itself: headers have texts of their own.
SourceLocation place_in_cell(const clang::SourceManager& sources,
                             clang::TranslationUnitDecl& part) {
  SourceLocation last;
  for (const clang::Decl* declaration : part.noload_decls()) {
    const SourceLocation place = declaration->getLocation();
    if (!place.isValid() || !place.isFileID()) continue;
    const auto name = sources.getBufferOrFake(sources.getFileID(place)).getBufferIdentifier();
    if (name.starts_with("input_line_")) last = place;
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

}  // namespace px::cpp
