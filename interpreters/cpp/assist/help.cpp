#include "interpreters/cpp/assist/help.hpp"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RawCommentList.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Sema.h>

#include <set>
#include <utility>
#include <vector>

#include "interpreters/cpp/assist/completion_text.hpp"
#include "interpreters/cpp/assist/name_queries.hpp"
#include "interpreters/cpp/assist/partial_parse.hpp"
#include "wire/text.hpp"

namespace px::cpp {
namespace {

constexpr std::size_t most_declarations = 8;  // of one name
constexpr std::size_t most_signatures = 12;

/// With an end of the line; "" where there is none.
std::string comment_of(Compiler& compiler, const clang::NamedDecl& declaration) {
  const clang::ASTContext& context = compiler.interpreter().getASTContext();
  const auto* comment = context.getRawCommentForAnyRedecl(&declaration);
  if (!comment) return "";
  return comment->getFormattedText(compiler.instance().getSourceManager(),
                                   compiler.instance().getDiagnostics()) +
         "\n";
}

std::string place_of(Compiler& compiler, const clang::NamedDecl& declaration) {
  const auto& sources = compiler.instance().getSourceManager();
  const clang::PresumedLoc place = sources.getPresumedLoc(declaration.getLocation());
  if (place.isInvalid() || llvm::StringRef(place.getFilename()).starts_with("input_line_"))
    return "";
  const std::string file =
      partial_file() == place.getFilename() ? "this cell" : place.getFilename();
  return "(" + file + ", line " + std::to_string(place.getLine()) + ")\n";
}

std::string description(Compiler& compiler, const clang::NamedDecl& declaration) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  declaration.print(stream, printing_policy(compiler));
  return with_plain_parameters(text) + "\n" + comment_of(compiler, declaration) +
         place_of(compiler, declaration);
}

std::string macro_text(Compiler& compiler, const std::string& name) {
  clang::Preprocessor& preprocessor = compiler.instance().getPreprocessor();
  const clang::MacroInfo* macro = preprocessor.getMacroInfo(preprocessor.getIdentifierInfo(name));
  if (!macro) return "";
  std::string text = "#define " + name;
  if (macro->isFunctionLike())
    text +=
        "(" + join(macro->params(), ", ", [](const auto* each) { return each->getName(); }) + ")";
  for (const clang::Token& token : macro->tokens()) text += " " + preprocessor.getSpelling(token);
  return text + "\n";
}

/// Describes each declaration once.
class Descriptions {
 public:
  explicit Descriptions(Compiler& compiler) : compiler_(compiler) {}

  void add(const clang::NamedDecl& found) {
    const clang::NamedDecl* declaration = found.getUnderlyingDecl();
    if (known_.size() >= most_declarations) return;
    if (!known_.insert(declaration->getCanonicalDecl()).second) return;
    text_ += (text_.empty() ? "" : "\n") + description(compiler_, *declaration);
  }
  std::string take() { return std::move(text_); }

 private:
  Compiler& compiler_;
  std::set<const clang::Decl*> known_;
  std::string text_;
};

class HelpReader final : public PlaceReader {
 public:
  HelpReader(Compiler& compiler, std::string word)
      : compiler_(compiler), word_(std::move(word)), found_(compiler) {}

  void ProcessCodeCompleteResults(clang::Sema&, clang::CodeCompletionContext,
                                  clang::CodeCompletionResult* results, unsigned count) override {
    if (word_.empty()) return;
    for (const auto* each = results; each != results + count; ++each) {
      const bool is_named = each->Kind == clang::CodeCompletionResult::RK_Declaration &&
                            each->Declaration && each->Declaration->getIdentifier() &&
                            each->Declaration->getName() == word_;
      if (is_named && !each->Hidden) found_.add(*each->Declaration);
    }
  }

  void ProcessOverloadCandidates(clang::Sema& sema, unsigned current, OverloadCandidate* candidates,
                                 unsigned count, clang::SourceLocation, bool is_braced) override {
    if (!word_.empty()) return;
    std::vector<const OverloadCandidate*> fitting, others;  // in clang's order: the best one first
    for (const auto* each = candidates; each != candidates + count; ++each)
      (current == 0 || each->getNumParams() > current ? fitting : others).push_back(each);
    fitting.insert(fitting.end(), others.begin(), others.end());
    std::set<std::string> known;
    signatures_.clear();
    for (const OverloadCandidate* each : fitting) {
      std::string parameter;
      const std::string text =
          whole_text(*each->CreateSignatureString(current, sema, getAllocator(),
                                                  getCodeCompletionTUInfo(), false, is_braced),
                     parameter);
      if (known.size() >= most_signatures || !known.insert(text).second) continue;
      const bool is_first = signatures_.empty();
      signatures_ += text + "\n";
      if (!is_first) continue;
      if (!parameter.empty())
        signatures_ += "  parameter " + std::to_string(current + 1) + ": " + parameter + "\n";
      if (const clang::FunctionDecl* function = each->getFunction())
        signatures_ += comment_of(compiler_, *function);
    }
  }

  std::string take() { return word_.empty() ? signatures_ : found_.take(); }

 private:
  Compiler& compiler_;
  std::string word_;
  Descriptions found_;
  std::string signatures_;
};

std::optional<std::string> unless_empty(std::string text) {
  if (text.empty()) return std::nullopt;
  return text;
}

}  // namespace

std::optional<std::string> help_at(Compiler& compiler, const std::string& code, std::size_t cursor,
                                   const CursorContext& context) {
  if (!context.is_code || context.is_path) return std::nullopt;
  HelpReader reader(compiler, context.whole_word);
  const bool is_word = !context.whole_word.empty();
  parse_to(compiler, code, is_word ? context.end : cursor, reader);
  std::string text = reader.take();
  if (text.empty() && is_word && !context.is_member)
    text = macro_text(compiler, context.whole_word);
  return unless_empty(std::move(text));
}

std::optional<std::string> help_for_declared(Compiler& compiler, const std::string& code,
                                             const CursorContext& context) {
  if (!context.is_code || context.is_path || context.whole_word.empty()) return std::nullopt;
  std::string text;
  // Then all is declared, and not yet forgotten where there are errors.
  compiler.at_end_of_part = [&](clang::TranslationUnitDecl&) {
    Descriptions found(compiler);
    if (const clang::NamedDecl* declaration = find_name(compiler, context.qualified))
      found.add(*declaration);
    if (std::string described = found.take(); !described.empty()) text = std::move(described);
  };
  compiler.compile_nothing();
  compiler.parse("#line 1 \"this cell\"\n" + code);
  return unless_empty(std::move(text));
}

}  // namespace px::cpp
