#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px {

/// Unix sockets at which those on the controller's own host reach it. Ours alone.
struct LocalInterface {
  std::string interface;  ///< "ipc:///tmp/polyxeus-a1b2c3": a folder with a socket for each port.
  std::string network;    ///< Where that is: see own_network().
};

/// A folder of shared memory for large arrays between processes on the controller's host. Ours
/// alone.
struct SharedMemory {
  std::string folder;    ///< "/dev/shm/polyxeus-arrays-a1b2c3"
  std::string identity;  ///< The same for all who see this very folder.
};

/// The process that the controller is, for programs of its host that end it. Ours alone.
struct ControllerProcess {
  int pid = 0;
  std::string birth;  ///< Which of all processes that ever had this pid: os::Processes::birth_of().
  bool operator==(const ControllerProcess&) const = default;
};

/// What both connection files say (protocol 2.2).
struct ConnectionCommon {
  std::string ssh;                            ///< "[user@]host[:port]" or "".
  std::string interface = "tcp://127.0.0.1";  ///< "<transport>://<ip>"; the ip may be * or 0.0.0.0.
  int registration = 0;                       ///< TCP ports, here and below.
  int control = 0, mux = 0, task = 0, iopub = 0;
  std::string key;                             ///< The HMAC key; "" = unsigned.
  std::optional<std::string> curve_serverkey;  ///< 40 characters of Z85.
  std::string location;                        ///< The controller's host, for those on other hosts.
  /// Where the controller can be reached, best first: IPv4 and IPv6 addresses, host names; all with
  /// the ports above. Ours alone: nothing in the files of other controllers.
  std::vector<std::string> addresses;
  /// A plain TCP port that passes on what clients and engines seal for each other: large arrays.
  /// Ours alone; nothing where the cluster is not encrypted, or has no key that signs.
  std::optional<int> stream;
  /// Whether the controller opens bundles (net::FrameBundle), and bundles for those who do. Ours
  /// alone.
  bool bundles = false;
  std::optional<LocalInterface> local;
  std::optional<SharedMemory> memory;
  std::string pack = "json";
  std::string signature_scheme = "hmac-sha256";
};

/// `ipcontroller[-<cluster_id>]-client.json`.
struct ClientConnectionInfo : ConnectionCommon {
  std::string task_scheme = "leastload";
  int notification = 0;
  int broadcast = 0;
  std::optional<ControllerProcess> process;  ///< Nothing in the files of other controllers.
};

/// `ipcontroller[-<cluster_id>]-engine.json`.
struct EngineConnectionInfo : ConnectionCommon {
  int hb_ping = 0, hb_pong = 0;
  std::vector<int> broadcast;  ///< Engine i connects to broadcast[i mod size].
  /// A plain TCP port on which an engine keeps one connection open, so that the end of its process
  /// is known at once. Ours alone; nothing in the files of other controllers.
  std::optional<int> lifeline;
  /// The set that the engine is started with, where pxcluster starts it: not in any file.
  std::string engine_set;
  /// The ids that the engines of the set want, by their number in it; of a set that starts again.
  std::vector<int> engine_ids;
};

/// How ipyparallel's clients, which know one interface only, reach the controller by a file. Ours
/// find TCP and Unix sockets in either.
enum class ClientRoute {
  tcp,          ///< Encrypted where the cluster is.
  unix_sockets  ///< Those of `local`, without encryption: for programs on the controller's host.
};

/// JSON, indented by 2, without a newline at the end: as the reference writes it.
/// route  unix_sockets only where `info.local` is there.
std::string write_connection_info(const ClientConnectionInfo& info,
                                  ClientRoute route = ClientRoute::tcp);
std::string write_connection_info(const EngineConnectionInfo& info);

/// Both read what is there for TCP, whatever the route of the file.
/// errors  bad_input: not JSON, or a key that is needed is missing or malformed; names the key.
Result<ClientConnectionInfo> read_client_connection_info(std::string_view text);
Result<EngineConnectionInfo> read_engine_connection_info(std::string_view text);

/// "tcp://127.0.0.1:5555"; "ipc:///tmp/polyxeus-a1b2c3/5555" for Unix sockets.
std::string endpoint(std::string_view interface, int port);
/// The interface of the same sockets for programs that put ':' between interface and port, as
/// ipyparallel does: "ipc:///tmp/polyxeus-a1b2c3/".
std::string colon_interface(const LocalInterface& local);
/// "ipc:///tmp/polyxeus-a1b2c3/:5555".
std::string colon_endpoint(const LocalInterface& local, int port);
/// Whether an interface is one of Unix sockets, "ipc://...".
bool is_unix(std::string_view interface);
/// Whether what is sent may pass encrypted connections: the own one (`interface` is what was
/// dialed), or those of others to a controller that other hosts reach.
bool may_be_encrypted(const ConnectionCommon& info);

}  // namespace px
