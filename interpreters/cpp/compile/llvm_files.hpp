#pragma once

#include <string>

namespace px::cpp {

/// What is needed of LLVM beside its libraries, which are loaded with the program.
struct LlvmFiles {
  std::string resource_folder;  ///< Clang's own headers are in its folder `include`.
  std::string compiler;         ///< clang++; "" where there is none.
  std::string openmp_library;   ///< libomp.so
};

/// Those that came with this program, in <prefix>/lib/polyxeus/llvm, where a wheel has brought
/// them; otherwise those that were there when it was built. `program`  its path.
LlvmFiles find_llvm_files(const std::string& program);

/// The same for the program that runs.
const LlvmFiles& llvm_files();

}  // namespace px::cpp
