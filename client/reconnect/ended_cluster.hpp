#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "wire/connection_info.hpp"

namespace px::client {

/// Tells, while the controller is unreachable, whether its cluster has ended or will come back. It
/// looks at the connection file: `pxcluster stop`, and a controller that ends in order, remove it,
/// and the next cluster in the same profile writes one with another key. A controller that is to be
/// restarted leaves it as it is. So a client stops waiting at once instead of after a timeout.
class EndedCluster {
 public:
  /// file  the path of the connection file. It is looked at only if it lies where programs keep
  ///       these files, in the folder `security` of a profile: a copy elsewhere is not removed with
  ///       the cluster.
  /// info  what was read from it.
  EndedCluster(const std::filesystem::path& file, const ClientConnectionInfo& info);

  /// Whether there is a file that can tell.
  bool can_tell() const { return !file_.empty(); }
  /// Why no controller will come back, and what the user can do; nothing as long as one may. Reads
  /// the file.
  std::optional<std::string> why() const;

 private:
  std::filesystem::path file_;
  std::string key_;
};

}  // namespace px::client
