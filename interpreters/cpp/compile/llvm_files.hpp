#pragma once

#include <string>

namespace px::cpp {

/// The files of LLVM that are needed in addition to its libraries, which are loaded with the
/// program.
struct LlvmFiles {
  std::string resource_folder;  ///< Its folder `include` contains clang's own headers.
  std::string compiler;         ///< clang++; "" if there is none.
  std::string openmp_library;   ///< libomp.so
};

/// The files that came with this program, in <prefix>/lib/polyxeus/llvm, if a wheel has installed
/// them; otherwise those that existed when it was built. `program`  its path.
LlvmFiles find_llvm_files(const std::string& program);

/// Like find_llvm_files(), for the running program.
const LlvmFiles& llvm_files();

}  // namespace px::cpp
