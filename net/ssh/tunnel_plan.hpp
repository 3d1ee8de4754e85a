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

// What a tunnel through ssh is to be; decided without a process.

/// A host that ssh logs in to.
struct SshServer {
  std::string login;        ///< "host" or "user@host", as ssh takes it.
  std::optional<int> port;  ///< Nothing: ssh's own choice.
  bool operator==(const SshServer&) const = default;

  /// The host alone.
  std::string host() const { return login.substr(login.rfind('@') + 1); }
  /// Reads "[user@]host[:port]"; an IPv6 address stands in brackets where a port follows.
  /// errors  bad_input: no such thing.
  static Result<SshServer> read(std::string_view text);
};

/// What the user says about ssh, beside the connection file.
struct SshWish {
  std::string server;    ///< "[user@]host[:port]"; empty: what the file says under `ssh`.
  std::string key_file;  ///< Empty: those that ssh finds by itself.
};

/// One port that ssh passes on.
struct Forward {
  int local_port = 0;  ///< At 127.0.0.1 of those who dial.
  std::string host;    ///< As it is called where the tunnel ends.
  int port = 0;
  bool operator==(const Forward&) const = default;
};

struct TunnelPlan {
  SshServer server;
  std::string key_file;
  std::vector<Forward> forwards;
};

/// What a tunnel prints when it is there.
inline constexpr std::string_view tunnel_is_up = "px:up";

/// The command: one ssh with all forwards, that asks nothing, ends when one of them cannot be made
/// or the server is silent for 15 s, and uses no connection of anybody else's.
std::vector<std::string> tunnel_command(const TunnelPlan& plan);

enum class TunnelUse {
  none,      ///< Dial the controller's addresses.
  fallback,  ///< Dial them, and make a tunnel where none answers.
  only       ///< Make a tunnel.
};
/// Whether a tunnel is wanted: always where the user names a server. What the file says under `ssh`
/// is for those who do not reach the controller directly (protocol 2.4, items 3 and 4): its own
/// host tries that first, and so do others where it listens for them and encrypts what is said.
TunnelUse choose_tunnel(const ConnectionCommon& info, const SshWish& wish, const OwnHost& here);

/// The server to tunnel through: the one that the user names, or the file, or where there is a key
/// file alone the controller's own host.
std::string tunnel_server(const ConnectionCommon& info, const SshWish& wish);

/// Where the controller is, as seen from the ssh server: 127.0.0.1 where it listens there alone or
/// is of that very host.
std::string tunnel_target(const ConnectionCommon& info, const SshServer& server);

/// Sends what follows the file to 127.0.0.1, to the ports that stand for those of the controller.
/// Precondition: `ports` has all of px::ports_of(info).
void redirect(ClientConnectionInfo& info, const std::map<int, int>& ports);
void redirect(EngineConnectionInfo& info, const std::map<int, int>& ports);

}  // namespace px::net
