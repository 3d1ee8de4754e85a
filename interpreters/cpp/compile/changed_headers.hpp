#pragma once

#include <clang/Basic/FileEntry.h>
#include <clang/Lex/PPCallbacks.h>

#include <string>
#include <vector>

#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

// Headers of the user that cells read again: clang's side of header_versions.hpp.
namespace px::cpp {

/// Keeps which headers of the user the parts include.
class InclusionLog final : public clang::PPCallbacks {
 public:
  explicit InclusionLog(clang::CompilerInstance& compiler) : compiler_(compiler) {}
  void InclusionDirective(clang::SourceLocation hash, const clang::Token& directive,
                          llvm::StringRef name, bool is_angled, clang::CharSourceRange name_range,
                          clang::OptionalFileEntryRef file, llvm::StringRef search_path,
                          llvm::StringRef relative_path, const clang::Module* module,
                          bool is_module, clang::SrcMgr::CharacteristicKind kind) override;
  /// Those since they were taken last, in their order.
  std::vector<Inclusion> take();

 private:
  struct Met {
    Inclusion inclusion;
    clang::FileEntryRef file;
  };
  clang::CompilerInstance& compiler_;
  std::vector<Met> met_;
};

/// Lets inclusions of the source's headers find their texts.
void add_texts(Compiler& compiler, const SourceText& source);

/// What earlier cells have of a header, whatever version, that gives way to a new one.
ReplacedDeclarations declarations_of_header(Compiler& compiler, const std::string& header);
/// The macros that stand as a header has defined them.
std::vector<std::string> macros_of_header(Compiler& compiler, const std::string& header);

/// Marks for all that the part defines in headers of `source`.
std::vector<TextEdit> marks_in_headers(Compiler& compiler, clang::TranslationUnitDecl& part,
                                       const SourceText& source, int version);

}  // namespace px::cpp
