#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace px::cpp {

/// The limits of a forked copy of the compiler, which is ended if it exceeds them.
struct CheckLimits {
  int processor_seconds = 120;
  std::size_t more_bytes = std::size_t{6} << 30;  ///< Of memory, in addition to this process's.
};

/// The settings of a session's compiler.
struct CompilerOptions {
  /// For the compiler; they cannot be changed later. An OpenMP flag also loads its library.
  std::vector<std::string> flags = default_flags();
  /// Made with the same flags; "" if there is none. One that clang rejects is not used, see
  /// CppSession::warning().
  std::string precompiled_header = {};
  /// Source text that is parsed first if no precompiled header contains it.
  std::string prelude = {};
  /// The folder of clang's own headers; "" for those of the clang with which this was built.
  std::string resource_folder = {};
  /// Functions and variables of this program that cells may use under these (C) names.
  std::vector<std::pair<std::string, const void*>> symbols = {};
  /// Headers that cells can include without a file: names and texts.
  std::vector<std::pair<std::string, std::string>> headers = {};
  CheckLimits limits = {};
  /// Where the texts of cells are written for debuggers, if has_debug_information(); "": nowhere.
  std::string source_folder = {};

  /// C++20, optimized for this machine.
  static std::vector<std::string> default_flags();
  /// Whether the last of these flags that is about debug information asks for that of variables and
  /// types, as -g does. All code has line tables.
  static bool has_debug_information(const std::vector<std::string>& flags);
};

}  // namespace px::cpp
