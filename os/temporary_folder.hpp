#pragma once

#include <filesystem>
#include <system_error>

namespace px::os {

/// Where files lie for a while: $TMPDIR, or /tmp where that is not set or names no folder.
inline std::filesystem::path temporary_folder() {
  std::error_code problem;
  std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  return problem ? std::filesystem::path("/tmp") : folder;
}

}  // namespace px::os
