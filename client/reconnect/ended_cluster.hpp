#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "wire/connection_info.hpp"

namespace px::client {

/// Finds out, while the controller is unreachable, whether its cluster has ended or will return.
/// For this purpose, the class reads the connection file. `pxcluster stop` removes this file, and
/// so does a controller that ends normally. The next cluster in the same profile writes a file with
/// another key. A controller that will be restarted leaves the file unchanged. If the file shows
/// that the cluster has ended, the client need not wait for a timeout.
class EndedCluster {
 public:
  /// file  the path of the connection file. The file is used only if it lies in the folder
  ///       `security` of a profile, because a copy elsewhere is not removed when the cluster ends.
  /// info  the content of the connection file when the client connected.
  EndedCluster(const std::filesystem::path& file, const ClientConnectionInfo& info);

  /// Whether there is a connection file that why() checks.
  bool can_tell() const { return !file_.empty(); }
  /// The reason why no controller will return, and the remedy; no value if a controller may return.
  /// Reads the file.
  std::optional<std::string> why() const;

 private:
  std::filesystem::path file_;
  std::string key_;
};

}  // namespace px::client
