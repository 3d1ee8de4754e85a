#include "interpreters/cpp/compile/llvm_files.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "os/spawn.hpp"

namespace px::cpp {

namespace fs = std::filesystem;

LlvmFiles find_llvm_files(const std::string& program) {
  const fs::path own = fs::path(program).parent_path().parent_path() / "lib/polyxeus/llvm";
  std::error_code error;
  if (fs::exists(own / "bin/clang++", error))
    return {(own / "lib/clang" / PX_LLVM_VERSION).string(), (own / "bin/clang++").string(),
            (own / "lib/libomp.so").string()};
  const bool is_there = ::access(PX_CLANG_COMPILER, X_OK) == 0;
  return {PX_CLANG_RESOURCE_FOLDER,
          is_there ? PX_CLANG_COMPILER : os::find_program("clang++-" PX_LLVM_VERSION),
          PX_LLVM_LIBRARY_FOLDER "/libomp.so"};
}

const LlvmFiles& llvm_files() {
  static const LlvmFiles found = [] {
    std::error_code error;
    return find_llvm_files(fs::read_symlink("/proc/self/exe", error).string());
  }();
  return found;
}

}  // namespace px::cpp
