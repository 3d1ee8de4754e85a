#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "net/discovery/profile_paths.hpp"
#include "wire/connection_info.hpp"

namespace px::cluster {

/// What a controller has written about itself.
struct ConnectionFiles {
  ClientConnectionInfo client;
  std::string engine_text;  ///< The engines' file, on one line.
};

/// Reads both connection files.  errors  not_found; bad_input: one is not whole, or not such a
/// file.
Result<ConnectionFiles> read_connection_files(const net::ProfilePaths& paths);

/// Waits for the connection files of a controller that is being started.
class FileWatch {
 public:
  /// Notes what is there before the start: that does not count.
  /// accepts_old  --reuse: the controller may leave them as they are.
  FileWatch(net::ProfilePaths paths, bool accepts_old);
  /// Both files, as soon as both are new and whole.
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
