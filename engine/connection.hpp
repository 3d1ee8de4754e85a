#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/mpi/world.hpp"
#include "engine/options.hpp"
#include "net/ssh/ssh_tunnel.hpp"
#include "wire/connection_info.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Connection info as it was found.
struct ConnectionText {
  std::string text;    ///< JSON
  std::string source;  ///< "IPP_CONNECTION_INFO", "standard input" or a path; for sentences.
};

/// What $IPP_CONNECTION_INFO, --file (- is standard input), or the file of the profile says; waits
/// for a file, telling `report` of it every few seconds (protocol 2.5).
/// errors  not_found: the file did not come in time; system; bad_input: it is not private.
Result<ConnectionText> find_connection(const EngineOptions& options, const net::ProfilePaths& paths,
                                       const program::Environment& environment,
                                       const std::function<void(const std::string&)>& report);

/// What such a text means; key and CURVE key that it lacks come from the options and the
/// environment, and --location takes the place of the addresses that it names.
/// errors  bad_input: it is not usable; names the source.
Result<EngineConnectionInfo> read_connection(const ConnectionText& found,
                                             const EngineOptions& options,
                                             const program::Environment& environment);

/// Finds the address at which the controller answers, and makes it the `interface` of `info`; or
/// makes a tunnel, which is returned then and must live as long as it is used (find_route()).
/// errors  lost_peer: it answers nowhere: says what was tried and the fix; system: no tunnel.
Result<std::unique_ptr<net::SshTunnel>> reach_controller(EngineConnectionInfo& info,
                                                         const net::SshOptions& ssh,
                                                         const std::string& source,
                                                         const Session& session, Duration patience);

}  // namespace px::engine
