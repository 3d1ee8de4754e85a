#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "wire/connection_info.hpp"

namespace px::client {

/// Finds out, while the controller is unreachable, whether its cluster has ended or will return. It
/// reads the connection file. `pxcluster stop` removes this file, and so does a controller that
/// ends normally. The next cluster in the same profile writes a file with another key. A controller
/// that will be restarted leaves the file unchanged. So a client stops waiting at once instead of
/// after a timeout.
class EndedCluster {
 public:
  /// file  the path of the connection file. It is used only if it lies in the folder `security` of
  ///       a profile: a copy elsewhere is not removed with the cluster.
  /// info  its content when the client connected.
  EndedCluster(const std::filesystem::path& file, const ClientConnectionInfo& info);

  /// Whether there is a file that can be used.
  bool can_tell() const { return !file_.empty(); }
  /// The reason why no controller will return, and the remedy; no value if a controller may return.
  /// Reads the file.
  std::optional<std::string> why() const;

 private:
  std::filesystem::path file_;
  std::string key_;
};

}  // namespace px::client
