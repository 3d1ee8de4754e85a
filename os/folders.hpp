#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace px::os {

/// "~" and "~/file" in the user's home folder ($HOME), as in a shell; other texts, and all texts if
/// HOME is not set, unchanged. "~ann/file" is not supported.
std::filesystem::path expand_home(const std::string& text);

/// The folder for temporary files: $TMPDIR, or /tmp if that is not set or names no folder.
inline std::filesystem::path temporary_folder() {
  std::error_code problem;
  std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  return problem ? std::filesystem::path("/tmp") : folder;
}

}  // namespace px::os
