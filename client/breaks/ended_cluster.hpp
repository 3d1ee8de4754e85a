#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "wire/connection_info.hpp"

namespace px::client {

/// Tells from its connection file whether a cluster has ended whose controller cannot be reached:
/// `pxcluster stop`, and a controller that ends in order, remove the file; the next cluster in its
/// place writes one with another key. A controller that is to be started again leaves the file.
class EndedCluster {
 public:
  /// file  the path of the connection file. It is looked at only where programs keep these files,
  ///       in the folder `security` of a profile: a copy elsewhere does not end with the cluster.
  EndedCluster(const std::filesystem::path& file, const ClientConnectionInfo& info);

  /// Whether there is a file to look at.
  bool can_tell() const { return !file_.empty(); }
  /// Why no controller will come back, and what to do; nothing while one may.
  std::optional<std::string> why() const;

 private:
  std::filesystem::path file_;
  std::string key_;
};

}  // namespace px::client
