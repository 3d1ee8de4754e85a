#include "interpreters/cpp/assist/partial_parse.hpp"

#include <clang/Lex/Preprocessor.h>
#include <clang/Sema/Sema.h>
#include <clang/Sema/SemaCodeCompletion.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>

#include "interpreters/cpp/assist/name_queries.hpp"
#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/code_mask.hpp"
#include "interpreters/cpp/cells/code_statements.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

namespace px::cpp {
namespace {

clang::CodeCompleteOptions everything() {
  clang::CodeCompleteOptions options;
  options.IncludeMacros = 1;
  options.IncludeCodePatterns = 1;
  return options;
}

/// The names that statements before the cursor, and the one around it, define.
std::set<std::string> names_defined_before(const std::string& code, std::size_t cursor) {
  static const std::regex type(
      R"(\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+([A-Za-z_]\w*)[^;={}()]*\{)");
  static const std::regex variable(R"(([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)?;\s*$)");
  const std::string masked = mask_code(code).text;
  std::set<std::string> names;
  for (const CodeStatement& each : split_statements(masked)) {
    if (each.begin >= cursor) break;
    const std::string text = masked.substr(each.begin, each.end - each.begin);
    std::smatch match;
    if (std::regex_search(text, match, type)) names.insert(match[1]);
    const bool is_named = each.kind == StatementKind::function ||
                          each.kind == StatementKind::declaration ||
                          (each.kind == StatementKind::other && is_declaration(text));
    if (!is_named || each.end > cursor) continue;
    if (!each.name.empty())
      names.emplace(each.name);
    else if (std::regex_search(text, match, variable))
      names.insert(match[1]);
  }
  return names;
}

/// As it will be when the cell runs.
void hide_what_is_defined_again(Compiler& compiler, const std::string& code, std::size_t cursor) {
  ReplacedDeclarations replaced;
  for (const std::string& name : names_defined_before(code, cursor)) {
    const clang::NamedDecl* found = find_name(compiler, name);
    if (found && is_in_cells(compiler, found->getLocation()))
      replaced.hidden.push_back(const_cast<clang::NamedDecl*>(found));
    else
      replaced.of_system.insert(name);
  }
  hide_replaced(compiler, replaced);
}

struct TextPlace {
  unsigned line, column;  // the first ones are 1
};

TextPlace place_of(const std::string& code, std::size_t cursor) {
  const auto end = code.begin() + static_cast<std::ptrdiff_t>(cursor);
  const std::size_t before = cursor == 0 ? code.npos : code.rfind('\n', cursor - 1);
  const std::size_t begin = before == code.npos ? 0 : before + 1;
  return {static_cast<unsigned>(std::count(code.begin(), end, '\n') + 1),
          static_cast<unsigned>(cursor - begin + 1)};
}

}  // namespace

PlaceReader::PlaceReader()
    : CodeCompleteConsumer(everything()),
      unit_(std::make_shared<clang::GlobalCodeCompletionAllocator>()) {}

const std::string& partial_file() {
  // In the current folder: `#include "mine.hpp"` looks there.
  static const std::string path = [] {
    std::error_code error;
    return (std::filesystem::current_path(error) / ".the cell that is being written").string();
  }();
  return path;
}

bool is_in_cells(Compiler& compiler, clang::SourceLocation location) {
  const clang::PresumedLoc place = compiler.instance().getSourceManager().getPresumedLoc(location);
  if (place.isInvalid()) return false;
  const std::string file = place.getFilename();
  // clang's own names are those of the prelude.
  return partial_file() == file || (is_name_of_cell(file) && !file.starts_with("input_line_"));
}

void parse_to(Compiler& compiler, const std::string& code, std::size_t cursor,
              PlaceReader& reader) {
  clang::CompilerInstance& instance = compiler.instance();
  cursor = std::min(cursor, code.size());
  hide_what_is_defined_again(compiler, code, cursor);
  const clang::FileEntryRef file = instance.getFileManager().getVirtualFileRef(
      partial_file(), static_cast<off_t>(code.size()), 0);
  instance.getSourceManager().overrideFileContents(
      file, llvm::MemoryBuffer::getMemBufferCopy(code, partial_file()));
  const TextPlace place = place_of(code, cursor);
  if (instance.getPreprocessor().SetCodeCompletionPoint(file, place.line, place.column)) return;
  instance.getSema().CodeCompletion().CodeCompleter = &reader;
  compiler.compile_nothing();
  compiler.parse("#include \"" + partial_file() + "\"\n");
  instance.getSema().CodeCompletion().CodeCompleter = nullptr;
}

}  // namespace px::cpp
