#include "interpreters/cpp/assist/completion.hpp"

#include <clang/Lex/MacroInfo.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Lookup.h>
#include <clang/Sema/Sema.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "interpreters/cpp/assist/completion_text.hpp"
#include "interpreters/cpp/assist/name_queries.hpp"
#include "interpreters/cpp/assist/partial_parse.hpp"

namespace px::cpp {
namespace {

using CompletionResult = clang::CodeCompletionResult;
using Context = clang::CodeCompletionContext;

constexpr std::size_t letters_for_std = 2;  // of a word, before names of std are offered for it

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

/// The order in which names are offered.
enum class Rank { of_cells, keyword, of_user_headers, of_std, of_c, macro };

struct Candidate {
  Rank rank = Rank::of_c;
  unsigned priority = 0;  // clang's own, by type and scope; the lower the better
  std::string text;
  CompletionResult result;
  auto order() const { return std::tie(rank, priority, text, result.Declaration); }
};

std::string kind_of(const clang::NamedDecl& declaration) {
  const clang::NamedDecl* of = declaration.getUnderlyingDecl();
  if (of->getAsFunction()) return "function";
  if (llvm::isa<clang::TypeDecl, clang::ClassTemplateDecl, clang::TypeAliasTemplateDecl,
                clang::ConceptDecl>(of))
    return "class";
  if (llvm::isa<clang::NamespaceDecl, clang::NamespaceAliasDecl>(of)) return "module";
  return llvm::isa<clang::FieldDecl>(of) ? "property" : "instance";
}

bool is_reserved(const std::string& name) {
  return name.starts_with("_") || name.find("__") != name.npos;
}

/// Of polyxeus or of an MPI library, and of no use to users.
bool is_internal_name(const std::string& name) {
  for (const char* prefix : {"px_", "OMPI_", "ompi_", "OPAL_", "opal_", "PX_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

/// Gathers what fits the word.
class SuggestionReader final : public PlaceReader {
 public:
  SuggestionReader(Compiler& compiler, const CursorContext& context)
      : compiler_(compiler), cursor_(context) {}

  void ProcessCodeCompleteResults(clang::Sema& sema, Context context, CompletionResult* results,
                                  unsigned count) override {
    if (!suggestions_.empty()) return;  // clang may look at a place more than once
    for (CompletionResult* each = results; each != results + count; ++each) add(*each);
    const bool is_name = !cursor_.is_member && !cursor_.is_path &&
                         context.getKind() != Context::CCC_PreprocessorDirective &&
                         context.getKind() != Context::CCC_MacroNameUse &&
                         context.getKind() != Context::CCC_MacroName &&
                         context.getKind() != Context::CCC_PreprocessorExpression;
    if (is_name) add_keywords();
    if (is_name && cursor_.word.size() >= letters_for_std) add_std(sema);
    finish(sema, context);
  }

  std::vector<Suggestion> take() { return std::move(suggestions_); }

 private:
  bool fits(const std::string& name) const {
    return name.starts_with(cursor_.word) && (!is_reserved(name) || is_reserved(cursor_.word));
  }

  void add(const CompletionResult& result) {
    switch (result.Kind) {
      case CompletionResult::RK_Declaration:
        if (result.Declaration) add_declaration(result, "");
        break;
      case CompletionResult::RK_Macro:
        add_macro(result);
        break;
      case CompletionResult::RK_Keyword:
        if (!cursor_.word.empty()) add_keyword(result, result.Keyword);
        break;
      case CompletionResult::RK_Pattern:
        if (cursor_.is_path) {
          add_path(result);
        } else if (const char* text = result.Pattern->getTypedText();
                   text && !cursor_.is_member && !cursor_.word.empty()) {
          add_keyword(result, text);
        }
        break;
    }
  }

  void add_keyword(const CompletionResult& result, const std::string& text) {
    if (fits(text)) candidates_.push_back({Rank::keyword, result.Priority, text, result});
  }

  void add_path(const CompletionResult& result) {
    std::string text = result.Pattern->getTypedText();
    if (!fits(text) || text == "bits/") return;
    const bool is_folder = text.ends_with("/");
    const bool is_plain = text.find('.') == text.npos;  // of the C++ library, Eigen ...
    candidates_.push_back({!is_folder && is_plain ? Rank::of_std : Rank::of_c, 0, text, result});
  }

  void add_macro(const CompletionResult& result) {
    const std::string name = result.Macro->getName().str();
    if (!fits(name)) return;
    const clang::Preprocessor& preprocessor = compiler_.instance().getPreprocessor();
    const clang::MacroInfo* macro = preprocessor.getMacroInfo(result.Macro);
    if (!macro) return;
    const bool is_of_user = is_in_cells(compiler_, macro->getDefinitionLoc());
    if (!is_of_user && (cursor_.word.empty() || is_internal_name(name))) return;
    candidates_.push_back(
        {is_of_user ? Rank::of_cells : Rank::macro, result.Priority, name, result});
  }

  Rank rank_of(const clang::NamedDecl& declaration) {
    if (is_in_cells(compiler_, declaration.getLocation())) return Rank::of_cells;
    const clang::SourceManager& sources = compiler_.instance().getSourceManager();
    if (declaration.isInStdNamespace()) return Rank::of_std;
    if (const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&declaration))
      return space->getName() == "px" ? Rank::of_user_headers : Rank::of_std;
    return sources.isInSystemHeader(declaration.getLocation()) ? Rank::of_c : Rank::of_user_headers;
  }

  void add_declaration(const CompletionResult& result, const std::string& before) {
    const clang::NamedDecl& declaration = *result.Declaration;
    const clang::IdentifierInfo* identifier = declaration.getIdentifier();
    if (!identifier || result.Hidden || result.Availability != CXAvailability_Available) return;
    const std::string name = identifier->getName().str();
    if (!fits(name)) return;
    if (const auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(&declaration))
      if (record->isInjectedClassName()) return;
    if (llvm::isa<clang::CXXDeductionGuideDecl>(declaration.getUnderlyingDecl())) return;
    if (const auto* guide = llvm::dyn_cast<clang::FunctionTemplateDecl>(&declaration))
      if (llvm::isa<clang::CXXDeductionGuideDecl>(guide->getTemplatedDecl())) return;
    const Rank rank = rank_of(declaration);
    const bool is_scope = cursor_.is_member;
    if (rank != Rank::of_cells && (is_internal_name(name) || is_internal_namespace(declaration)))
      return;
    // Where nothing is written yet, only what the user has made.
    if (cursor_.word.empty() && !is_scope && rank > Rank::of_user_headers) return;
    candidates_.push_back({rank, result.Priority, before + name, result});
  }

  static bool is_internal_namespace(const clang::NamedDecl& declaration) {
    const auto* space = llvm::dyn_cast<clang::NamespaceDecl>(&declaration);
    const auto* outer =
        space ? llvm::dyn_cast<clang::NamespaceDecl>(space->getDeclContext()) : nullptr;
    return outer && outer->getName() == "px";
  }

  void add_keywords() {
    if (cursor_.word.empty()) return;
    for (const char* keyword : keywords)
      if (fits(keyword))
        candidates_.push_back(
            {Rank::keyword, clang::CCP_Keyword, keyword, CompletionResult(keyword)});
  }

  /// Without `std::` the word means nothing of std, but the writer may.
  void add_std(clang::Sema& sema) {
    class Names final : public clang::VisibleDeclConsumer {
     public:
      explicit Names(SuggestionReader& reader) : reader_(reader) {}
      void FoundDecl(clang::NamedDecl* found, clang::NamedDecl*, clang::DeclContext*,
                     bool) override {
        reader_.add_declaration(CompletionResult(found, clang::CCP_Declaration), "std::");
      }

     private:
      SuggestionReader& reader_;
    };
    Names names(*this);
    if (clang::NamespaceDecl* space = sema.getStdNamespace())
      sema.LookupVisibleDecls(space, clang::Sema::LookupOrdinaryName, names, false);
  }

  /// Sorts, bounds, and describes what is left.
  void finish(clang::Sema& sema, const Context& context) {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.order() < b.order(); });
    std::set<std::string> texts;
    for (const Candidate& each : candidates_) texts.insert(each.text);
    std::map<std::string, std::size_t> known;  // text -> its place in the suggestions
    std::map<std::string, int> overloads;
    for (Candidate& each : candidates_) {
      const std::string plain =
          each.text.starts_with("std::") && !cursor_.is_member ? each.text.substr(5) : each.text;
      if (plain != each.text && texts.count(plain) > 0) continue;  // `using namespace std`
      const auto [place, is_new] = known.emplace(each.text, suggestions_.size());
      if (!is_new) {
        ++overloads[each.text];
        continue;
      }
      if (suggestions_.size() == most_suggestions) break;
      suggestions_.push_back(described(each, sema, context));
    }
    for (const auto& [text, count] : overloads)
      if (Suggestion& each = suggestions_[known[text]]; each.kind == "function")
        each.signature += " (+" + std::to_string(count) + ")";
  }

  Suggestion described(Candidate& candidate, clang::Sema& sema, const Context& context) {
    Suggestion made{candidate.text, "keyword", ""};
    if (cursor_.is_path) made.kind = "path";
    if (candidate.result.Kind == CompletionResult::RK_Macro) made.kind = "macro";
    if (candidate.result.Kind != CompletionResult::RK_Declaration) return made;
    made.kind = kind_of(*candidate.result.Declaration);
    const auto* text = candidate.result.CreateCodeCompletionString(
        sema, context, getAllocator(), getCodeCompletionTUInfo(), false);
    if (text && made.kind != "class" && made.kind != "module") made.signature = signature_of(*text);
    return made;
  }

  Compiler& compiler_;
  const CursorContext& cursor_;
  std::vector<Candidate> candidates_;
  std::vector<Suggestion> suggestions_;
};

/// Without the closing bracket or quote where the code has it already.
void drop_closing(std::vector<Suggestion>& paths, const std::string& code, std::size_t cursor) {
  const char next = cursor < code.size() ? code[cursor] : '\0';
  for (Suggestion& each : paths)
    if (!each.text.empty() && (next == '>' || next == '"') && each.text.back() == next)
      each.text.pop_back();
}

}  // namespace

std::vector<Suggestion> suggestions_at(Compiler& compiler, const std::string& code,
                                       std::size_t cursor, const CursorContext& context) {
  if (!context.is_code) return {};
  SuggestionReader reader(compiler, context);
  parse_to(compiler, code, cursor, reader);
  std::vector<Suggestion> suggestions = reader.take();
  if (context.is_path) drop_closing(suggestions, code, cursor);
  return suggestions;
}

}  // namespace px::cpp
