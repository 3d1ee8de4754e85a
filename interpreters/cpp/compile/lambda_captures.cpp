#include <clang/AST/ExprCXX.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <string>
#include <vector>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {
namespace {

using clang::SourceLocation;

/// Whether a lambda in a function of a program would copy it: a variable of a cell's top.
bool is_copied(const clang::VarDecl& variable, const clang::SourceManager& sources) {
  if (!variable.isFileVarDecl() || variable.getStorageClass() == clang::SC_Static) return false;
  if (variable.isConstexpr() || variable.getTSCSpec() != clang::TSCS_unspecified) return false;
  if (!variable.getDeclContext()->isTranslationUnit() || !variable.getIdentifier()) return false;
  const SourceLocation place = sources.getFileLoc(variable.getLocation());
  const auto buffer = sources.getBufferOrFake(sources.getFileID(place));
  return buffer.getBufferIdentifier().starts_with("input_line_");
}

/// The cells' variables that the body of one lambda uses; those inside that capture nothing use
/// them as they are.
class UseFinder : public clang::RecursiveASTVisitor<UseFinder> {
 public:
  explicit UseFinder(const clang::SourceManager& sources) : sources_(sources) {}

  bool VisitDeclRefExpr(clang::DeclRefExpr* expression) {
    const auto* variable = llvm::dyn_cast<clang::VarDecl>(expression->getDecl());
    if (!variable || !is_copied(*variable, sources_)) return true;
    const std::string name = variable->getName().str();
    if (!std::count(names_.begin(), names_.end(), name)) names_.push_back(name);
    return true;
  }
  bool TraverseLambdaExpr(clang::LambdaExpr* inner) {
    if (inner->getCaptureDefault() == clang::LCD_None) return true;
    return RecursiveASTVisitor::TraverseLambdaExpr(inner);
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  const clang::SourceManager& sources_;
  std::vector<std::string> names_;
};

class LambdaFinder : public clang::RecursiveASTVisitor<LambdaFinder> {
 public:
  LambdaFinder(const clang::SourceManager& sources, const std::vector<GlobalCapture>& refused,
               bool has_errors)
      : sources_(sources), refused_(refused), has_errors_(has_errors) {}

  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    const SourceLocation place = lambda->getCaptureDefaultLoc();
    const bool copies = lambda->getCaptureDefault() == clang::LCD_ByCopy;
    if (!place.isValid() || !place.isFileID()) return true;
    const std::string list = copies ? copies_of(*lambda) : std::string();
    const std::size_t offset = sources_.getDecomposedLoc(place).second;
    if (is_refused(place))
      edits_.push_back({offset, 1 + (list.empty() ? length_of_comma(place) : 0), list});
    else if (!list.empty() && !has_errors_)
      edits_.push_back({offset + 1, 0, ", " + list});
    return true;
  }
  std::vector<TextEdit> take() { return std::move(edits_); }

 private:
  /// "a = a, b = b"
  std::string copies_of(const clang::LambdaExpr& lambda) const {
    UseFinder uses(sources_);
    uses.TraverseStmt(lambda.getBody());
    std::string list;
    const std::vector<std::string> others = refused_in(lambda.getIntroducerRange());
    for (const std::string& name : uses.names())
      if (!std::count(others.begin(), others.end(), name))
        list += (list.empty() ? "" : ", ") + name + " = " + name;
    return list;
  }
  /// The names that the lambda captures beside.
  std::vector<std::string> refused_in(clang::SourceRange range) const {
    std::vector<std::string> names;
    for (const GlobalCapture& each : refused_)
      if (!each.is_default && range.fullyContains(each.place)) names.push_back(text_at(each.place));
    return names;
  }
  std::string text_at(SourceLocation place) const {
    return std::string(sources_.getCharacterData(place),
                       clang::Lexer::MeasureTokenLength(place, sources_, clang::LangOptions()));
  }
  bool is_refused(SourceLocation place) const {
    return std::any_of(refused_.begin(), refused_.end(),
                       [&](const GlobalCapture& each) { return each.place == place; });
  }
  /// Up to the comma behind the default, if there is one.
  std::size_t length_of_comma(SourceLocation place) const {
    const std::string_view behind(sources_.getCharacterData(place) + 1);
    const std::size_t next = behind.find_first_not_of(" \t\n");
    return next != behind.npos && behind[next] == ',' ? next + 1 : 0;
  }

  const clang::SourceManager& sources_;
  const std::vector<GlobalCapture>& refused_;
  bool has_errors_;  // of any kind: then nothing is known about what C++ allows
  std::vector<TextEdit> edits_;
};

class AnyLambda : public clang::RecursiveASTVisitor<AnyLambda> {
 public:
  bool VisitLambdaExpr(clang::LambdaExpr*) { return false; }  // which ends the walk
};

/// Not in functions of the user: there, a program's lambda would not copy global variables either.
bool is_top_of_cell(const clang::Decl& declaration) {
  if (const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&declaration))
    return function->getIdentifier() && is_wrapper(function->getName());
  return llvm::isa<clang::VarDecl, clang::TopLevelStmtDecl>(declaration);
}

}  // namespace

bool has_lambda_in_statement(clang::TranslationUnitDecl& part) {
  const auto declarations = part.noload_decls();
  return std::any_of(declarations.begin(), declarations.end(), [](clang::Decl* each) {
    return llvm::isa<clang::TopLevelStmtDecl>(each) && !AnyLambda().TraverseDecl(each);
  });
}

std::vector<TextEdit> initialize_captures(Compiler& compiler,
                                          const std::vector<GlobalCapture>& captures) {
  const auto& sources = compiler.instance().getSourceManager();
  std::vector<TextEdit> edits;
  for (const GlobalCapture& capture : captures) {
    if (capture.is_default || !capture.place.isFileID()) continue;
    const std::size_t offset = sources.getDecomposedLoc(capture.place).second;
    const unsigned length =
        clang::Lexer::MeasureTokenLength(capture.place, sources, compiler.instance().getLangOpts());
    const std::string name(sources.getCharacterData(capture.place), length);
    edits.push_back({offset + length, 0, " = " + name});
  }
  return edits;
}

std::vector<TextEdit> copy_captures(Compiler& compiler, clang::TranslationUnitDecl& part,
                                    const std::vector<GlobalCapture>& refused) {
  clang::CompilerInstance& instance = compiler.instance();
  const bool has_errors = instance.getDiagnostics().hasErrorOccurred();
  LambdaFinder finder(instance.getSourceManager(), refused, has_errors);
  for (clang::Decl* declaration : part.noload_decls())
    if (is_top_of_cell(*declaration)) finder.TraverseDecl(declaration);
  return finder.take();
}

}  // namespace px::cpp
