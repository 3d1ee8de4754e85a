#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "net/discovery/profile_paths.hpp"
#include "wire/connection_info.hpp"

namespace px::cluster {

/// The connection files that a controller has written.
struct ConnectionFiles {
  ClientConnectionInfo client;
  std::string engine_text;  ///< The engines' file, on one line.
};

/// Reads both connection files.  errors  not_found; bad_input: one is incomplete, or not such a
/// file.
Result<ConnectionFiles> read_connection_files(const net::ProfilePaths& paths);

/// Waits for the connection files of a controller that is being started.
class FileWatch {
 public:
  /// Records the files that exist before the start, which do not count.
  /// accepts_old  --reuse: the controller may leave them unchanged.
  FileWatch(net::ProfilePaths paths, bool accepts_old);
  /// Both files, as soon as both are new and complete.
  std::optional<ConnectionFiles> look() const;

 private:
  /// Changes whenever a file is written or replaced.
  using Identity = std::string;
  static Identity identity(const std::filesystem::path& path);
  bool is_new(const std::filesystem::path& path, const Identity& before) const;
  net::ProfilePaths paths_;
  bool accepts_old_;
  Identity old_client_;
  Identity old_engine_;
};

}  // namespace px::cluster
