#include "interpreters/cpp/other_kernels/header_texts.hpp"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <llvm/Support/MemoryBuffer.h>

namespace px::cpp {

void add_headers(clang::CompilerInstance& compiler,
                 const std::vector<std::pair<std::string, std::string>>& headers) {
  const std::string folder = "/polyxeus-headers";
  clang::FileManager& files = compiler.getFileManager();
  for (const auto& [name, text] : headers) {
    const std::string path = folder + "/" + name;
    const auto size = static_cast<off_t>(text.size());
    compiler.getSourceManager().overrideFileContents(
        files.getVirtualFileRef(path, size, 0), llvm::MemoryBuffer::getMemBufferCopy(text, path));
  }
  if (const auto entry = files.getOptionalDirectoryRef(folder, false))
    compiler.getPreprocessor().getHeaderSearchInfo().AddSearchPath(
        clang::DirectoryLookup(*entry, clang::SrcMgr::C_System, false), true);
}

}  // namespace px::cpp
