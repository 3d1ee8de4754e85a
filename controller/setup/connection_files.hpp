#pragma once

#include <filesystem>
#include <string_view>

#include "controller/setup/sockets.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::controller {

/// The two files by which clients and engines find the controller. Next to `client` are the
/// controller's secret keys, for a restarted controller that reuses them, and, if there are Unix
/// sockets, the file for ipyparallel's clients that need the other route (TCP or Unix sockets).
struct ConnectionFiles {
  std::filesystem::path client, engine;
  std::filesystem::path secrets() const { return net::ProfilePaths::secrets_beside(client); }
  /// route  of `client`
  std::filesystem::path other_client(ClientRoute route) const {
    return route == ClientRoute::tcp ? net::ProfilePaths::ipc_beside(client)
                                     : net::ProfilePaths::tcp_beside(client);
  }
};

/// Both files of an earlier run, if they belong together (protocol 2.3).
/// errors  not_found, system: a file is missing, or cannot be read; bad_input: malformed, or made
///         by different runs.
Result<ConnectionPair> read_connection_files(const ConnectionFiles& files);

/// The checks of read_connection_files(), without files.
Result<ConnectionPair> match_connection_texts(std::string_view client, std::string_view engine);

/// Writes them, 0600, the engines' file last: launchers wait for both.
/// route  of the clients' file; tcp if there are no Unix sockets.
Result<void> write_connection_files(const ConnectionFiles& files, const ConnectionPair& pair,
                                    ClientRoute route);

/// The keys of an earlier run.  errors  not_found, system; bad_input: malformed, or not private.
Result<SideKeys> read_secrets(const ConnectionFiles& files);
Result<void> write_secrets(const ConnectionFiles& files, const SideKeys& keys);

/// Removes the files of a controller with this key and these ports, but not those of another one.
/// It is not an error if they are already gone.
void remove_connection_files(const ConnectionFiles& files, const ConnectionPair& pair);

}  // namespace px::controller
