#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace px::os {

/// "~" and "~/file" in the user's home folder ($HOME), as a shell reads them; all other texts, and
/// all where HOME is not set, as they are. "~ann/file" is not read.
std::filesystem::path expand_home(const std::string& text);

/// Where files lie for a while: $TMPDIR, or /tmp where that is not set or names no folder.
inline std::filesystem::path temporary_folder() {
  std::error_code problem;
  std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  return problem ? std::filesystem::path("/tmp") : folder;
}

}  // namespace px::os
