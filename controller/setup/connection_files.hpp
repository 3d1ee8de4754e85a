#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "controller/relay/sockets.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// The two files by which everybody finds the controller.
struct ConnectionFiles {
  std::filesystem::path client, engine;
  /// The controller's secret keys, for a controller that is to come back with them.
  std::filesystem::path secrets;
};

/// Both files of an earlier run, if they belong together (protocol 2.3).
/// errors  not_found, system; bad_input: malformed, or made by different runs.
Result<ConnectionPair> read_connection_files(const ConnectionFiles& files);

/// What read_connection_files() checks, without files.
Result<ConnectionPair> match_connection_texts(std::string_view client, std::string_view engine);

/// Writes both, 0600, the clients' first: launchers wait for both.
Result<void> write_connection_files(const ConnectionFiles& files, const ConnectionPair& pair);

/// The keys of an earlier run.  errors  not_found, system; bad_input: malformed, or not private.
Result<SideKeys> read_secrets(const ConnectionFiles& files);
Result<void> write_secrets(const ConnectionFiles& files, const SideKeys& keys);

/// Removes all; that they are gone already is no error.
void remove_connection_files(const ConnectionFiles& files);

}  // namespace px::controller
