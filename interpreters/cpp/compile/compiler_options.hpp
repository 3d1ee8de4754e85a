#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// What a forked copy of the compiler may use before it is ended.
struct CheckLimits {
  int processor_seconds = 120;
  std::size_t more_bytes = std::size_t{6} << 30;  ///< Of memory, beside what this process has.
};

/// How the compiler of a session is made.
struct CompilerOptions {
  /// For the compiler; nothing can change them later. An OpenMP flag loads its library too.
  std::vector<std::string> flags = default_flags();
  /// Made with the same flags; "" where there is none. One that clang does not accept is left
  /// aside, see CppSession::warning().
  std::string precompiled_header = {};
  /// Source text that is parsed first where no precompiled header holds it.
  std::string prelude = {};
  /// Where clang's own headers are; "" for those of the clang that this was built with.
  std::string resource_folder = {};
  /// Functions and variables of this program that cells may use under these (C) names.
  std::vector<std::pair<std::string, const void*>> symbols = {};
  /// Headers that cells can include without a file: names and texts.
  std::vector<std::pair<std::string, std::string>> headers = {};
  CheckLimits limits = {};

  /// C++20, optimized for this machine.
  static std::vector<std::string> default_flags();
};

}  // namespace px::cpp
