#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/discovery/address.hpp"
#include "wire/connection_info.hpp"
#include "wire/error.hpp"

namespace px::net {

// Decides whether a tunnel through ssh is needed and which ports it forwards. Pure functions: they
// start no process and look up no name.

/// A host to which ssh logs in.
struct SshServer {
  std::string login;        ///< "host" or "user@host", in the form that ssh takes.
  std::optional<int> port;  ///< Nothing: the one in ssh's configuration.
  bool operator==(const SshServer&) const = default;

  /// The host without the user.
  std::string host() const { return login.substr(login.rfind('@') + 1); }
  /// Reads "[user@]host[:port]". An IPv6 address is in brackets if a port follows.
  /// errors  bad_input: another form, or characters that a shell would interpret: ssh passes the
  ///         name to the shells of ProxyCommand and LocalCommand.
  static Result<SshServer> read(std::string_view text);
};

/// The user's options or arguments for ssh, in addition to the connection file.
struct SshOptions {
  std::string server;    ///< "[user@]host[:port]"; empty: the file's `ssh`.
  std::string key_file;  ///< Empty: those that ssh finds.
};

/// One port that ssh forwards.
struct Forward {
  int local_port = 0;  ///< At 127.0.0.1 of the host where ssh runs.
  std::string host;    ///< The target, by its name at the ssh server.
  int port = 0;
  bool operator==(const Forward&) const = default;
};

/// The task of one ssh process.
struct TunnelPlan {
  SshServer server;
  std::string key_file;
  std::vector<Forward> forwards;
};

/// The line that ssh prints when the tunnel is open.
inline constexpr std::string_view tunnel_is_up = "px:up";

/// The command line of one ssh process with all forwards. It does not ask the user for input
/// (BatchMode), ends if a forward cannot be made or the server is silent for 15 s, shares no
/// connection with other ssh processes (ControlMaster), and prints `tunnel_is_up` when all are
/// open.
std::vector<std::string> tunnel_command(const TunnelPlan& plan);

/// How to reach the controller.
enum class TunnelUse {
  none,      ///< Connect to the controller's addresses, without a tunnel.
  fallback,  ///< Try the addresses first; open a tunnel if none answers.
  only       ///< Open a tunnel.
};
/// Whether a tunnel is needed: always if the user names a server or a key. The server in the file's
/// `ssh` is for programs that cannot reach the controller directly (protocol 2.4, items 3 and 4).
/// So the controller's own host tries its addresses first, and so does any other host if the
/// controller listens for others and encrypts.
TunnelUse choose_tunnel(const ConnectionCommon& info, const SshOptions& options,
                        const OwnHost& here);

/// The ssh server: the one that the user names, otherwise that of the file, otherwise (the user
/// gave only a key file) the controller's own host.
std::string tunnel_server(const ConnectionCommon& info, const SshOptions& options);

/// The controller's address as seen from the ssh server: 127.0.0.1 if the controller listens only
/// there or runs on that host.
std::string tunnel_target(const ConnectionCommon& info, const SshServer& server);

/// Changes the connection info so that it leads to the tunnel: to 127.0.0.1, and to the local port
/// for each of the controller's ports. Removes the members that would lead elsewhere: `ssh`,
/// `location`, `addresses`, and the Unix sockets.
/// Precondition: `ports` contains all of px::ports_of(info).
void redirect(ClientConnectionInfo& info, const std::map<int, int>& ports);
void redirect(EngineConnectionInfo& info, const std::map<int, int>& ports);

}  // namespace px::net
