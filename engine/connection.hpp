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

/// Connection info in the form in which it was found.
struct ConnectionText {
  std::string text;    ///< JSON
  std::string source;  ///< "IPP_CONNECTION_INFO", "standard input" or a path; for messages.
};

/// The connection info from $IPP_CONNECTION_INFO, from --file (- is standard input), or from the
/// file of the profile. Waits for a file, and calls `report` every few seconds while it waits
/// (protocol 2.5).
/// errors  not_found: the file did not appear in time; system; bad_input: it is not private.
Result<ConnectionText> find_connection(const EngineOptions& options, const net::ProfilePaths& paths,
                                       const program::Environment& environment,
                                       const std::function<void(const std::string&)>& report);

/// Parses such a text. The options and the environment supply the key and the CURVE key if it lacks
/// them, and --location replaces the addresses that it names.
/// errors  bad_input: it is not usable; the message names the source.
Result<EngineConnectionInfo> read_connection(const ConnectionText& found,
                                             const EngineOptions& options,
                                             const program::Environment& environment);

/// Finds the address at which the controller answers, and makes it the `interface` of `info`; or
/// opens a tunnel, which is returned and must exist as long as it is used (find_route()).
/// errors  lost_peer: no address answers: the message names what was tried and the fix; system: no
///         tunnel.
Result<std::unique_ptr<net::SshTunnel>> reach_controller(EngineConnectionInfo& info,
                                                         const net::SshOptions& ssh,
                                                         const std::string& source,
                                                         const Session& session, Duration patience);

}  // namespace px::engine
