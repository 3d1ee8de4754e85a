#pragma once

#include <clang/Basic/FileEntry.h>
#include <clang/Lex/PPCallbacks.h>

#include <string>
#include <vector>

#include "interpreters/cpp/cells/header_versions.hpp"
#include "interpreters/cpp/compile/redefinition.hpp"

// Headers of the user that cells read again: clang's side of header_versions.hpp.
namespace px::cpp {

/// Records which headers of the user the parts include.
class InclusionLog final : public clang::PPCallbacks {
 public:
  explicit InclusionLog(clang::CompilerInstance& compiler) : compiler_(compiler) {}
  void InclusionDirective(clang::SourceLocation hash, const clang::Token& directive,
                          llvm::StringRef name, bool is_angled, clang::CharSourceRange name_range,
                          clang::OptionalFileEntryRef file, llvm::StringRef search_path,
                          llvm::StringRef relative_path, const clang::Module* module,
                          bool is_module, clang::SrcMgr::CharacteristicKind kind) override;
  /// The inclusions since the previous call, in their order.
  std::vector<Inclusion> take();

 private:
  struct Met {
    Inclusion inclusion;
    clang::FileEntryRef file;
  };
  clang::CompilerInstance& compiler_;
  std::vector<Met> met_;
};

/// Makes the texts of the source's headers available to inclusions.
void add_texts(Compiler& compiler, const SourceText& source);

/// The declarations of earlier cells from a header, in any version, that are replaced by a new
/// version.
ReplacedDeclarations declarations_of_header(Compiler& compiler, const std::string& header);
/// The macros that are still defined as in a header.
std::vector<std::string> macros_of_header(Compiler& compiler, const std::string& header);

/// Marks for all definitions of the part in headers of `source`.
std::vector<TextEdit> marks_in_headers(Compiler& compiler, clang::TranslationUnitDecl& part,
                                       const SourceText& source, int version);

}  // namespace px::cpp
