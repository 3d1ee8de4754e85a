#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/json.hpp"
#include "wire/rank_plan.hpp"

namespace px {

/// The Unix sockets of a controller for programs on its own host: faster than TCP, and without
/// encryption. An addition of polyxeus to the connection files, which ipyparallel ignores.
struct LocalInterface {
  std::string interface;  ///< "ipc:///tmp/polyxeus-a1b2c3": a folder with a socket for each port.
  std::string network;    ///< Identifies the host and network namespace: see net::own_network().
};

/// The folder of shared memory through which processes on the controller's host pass large arrays.
/// An addition of polyxeus to the connection files.
struct SharedMemory {
  std::string folder;    ///< "/dev/shm/polyxeus-arrays-a1b2c3"
  std::string identity;  ///< The same for all processes that see this folder.
};

/// The controller's process, so that programs on its host can end it. An addition of polyxeus to
/// the connection files.
struct ControllerProcess {
  int pid = 0;
  std::string birth;  ///< Distinguishes it from others with this pid: os::Processes::birth_of().
  bool operator==(const ControllerProcess&) const = default;
};

/// The HTTP address of the controller's dashboard, on the loopback device of its host. An addition
/// of polyxeus to the clients' connection file.
struct DashboardAddress {
  int port = 0;
  std::string token;  ///< Required to open it.
  bool operator==(const DashboardAddress&) const = default;
};

/// The address that a browser on the controller's host opens: "http://127.0.0.1:40123/#token=...".
/// Browsers do not send the part after the # to a server.
std::string address_for_browser(const DashboardAddress& dashboard);

/// The members that the connection files for clients and for engines have in common (protocol 2.2).
/// "An addition of polyxeus" marks members that ipyparallel's controllers do not write; they have
/// their default value in this case.
struct ConnectionCommon {
  std::string ssh;                            ///< "[user@]host[:port]" or "".
  std::string interface = "tcp://127.0.0.1";  ///< "<transport>://<ip>"; the ip may be * or 0.0.0.0.
  int registration = 0;                       ///< TCP ports, here and below.
  int control = 0, mux = 0, task = 0, iopub = 0;
  std::string key;                             ///< The HMAC key; "": messages are unsigned.
  std::optional<std::string> curve_serverkey;  ///< 40 characters of Z85.
  std::string location;                        ///< The controller's host, needed on other hosts.
  /// The addresses at which the controller can be reached, best first: IPv4 and IPv6 addresses and
  /// host names, all with the ports above. An addition of polyxeus.
  std::vector<std::string> addresses;
  /// A plain TCP port on which the controller joins the two ends of a stream (net::Stream): large
  /// arrays, which clients and engines encrypt for each other. An addition of polyxeus. Nothing if
  /// the cluster is not encrypted, or has no key that signs.
  std::optional<int> stream;
  /// Whether the controller accepts bundles (net::FrameBundle), and sends them to peers that send
  /// bundles. An addition of polyxeus.
  bool bundles = false;
  /// Nothing if the controller has no Unix sockets, or no shared memory.
  std::optional<LocalInterface> local;
  std::optional<SharedMemory> memory;
  /// "json" or "msgpack", in the form that packer_by_name() takes.
  std::string pack = "json";
  /// In the form that Signer::create() takes.
  std::string signature_scheme = "hmac-sha256";
};

/// The content of `ipcontroller[-<cluster_id>]-client.json`: all that a client needs to connect.
struct ClientConnectionInfo : ConnectionCommon {
  std::string task_scheme = "leastload";
  int notification = 0;
  int broadcast = 0;
  std::optional<ControllerProcess> process;  ///< Nothing in files of ipyparallel.
  std::optional<DashboardAddress> dashboard;  ///< Nothing in files of ipyparallel, or if it is off.
};

/// The content of `ipcontroller[-<cluster_id>]-engine.json`: all that an engine needs to connect.
struct EngineConnectionInfo : ConnectionCommon {
  int hb_ping = 0, hb_pong = 0;
  std::vector<int> broadcast;  ///< Engine i connects to broadcast[i mod size].
  /// A plain TCP port to which each engine keeps one connection open, so that the controller
  /// notices the end of its process at once (net::LifelineServer). An addition of polyxeus.
  std::optional<int> lifeline;
  /// The id of the set of engines to which this engine belongs, if pxcluster started it. It is
  /// never in the file on disk: pxcluster adds it to the copy that it passes to the engines.
  std::string engine_set;
  /// The engine ids that the engines of a set request, by their number in the set: if pxcluster
  /// restarts a set, it gives it its previous ids. Passed on like `engine_set`.
  std::vector<int> engine_ids;
  /// The plan of pxcluster for the engines of a set. Passed on like `engine_set`. If it contains
  /// ranks, an engine requests its rank as its id, unless `engine_ids` has another.
  RankPlan ranks;
};

/// The interface of the controller that the file offers to clients of ipyparallel, which read only
/// `interface`. Clients of polyxeus find both TCP and Unix sockets in both kinds of file.
enum class ClientRoute {
  tcp,          ///< TCP; encrypted if the cluster is encrypted.
  unix_sockets  ///< The unencrypted sockets of `local`; for the controller's host.
};

/// The text of the file: JSON, indented by 2, without a newline at the end, as ipyparallel writes
/// it. Additions of polyxeus that are not set are left out.
/// route  unix_sockets only if `info.local` is set.
std::string write_connection_info(const ClientConnectionInfo& info,
                                  ClientRoute route = ClientRoute::tcp);
std::string write_connection_info(const EngineConnectionInfo& info);

/// Both functions read a file of either ClientRoute: `interface` and the keys of encryption are
/// always those of TCP, and the Unix sockets are in `local`. Malformed `local`, `memory`, `process`
/// and `dashboard` are treated as absent; all other members must be valid.
/// errors  bad_input: not a JSON object, or a required key is missing or malformed; the message
///         names the key.
Result<ClientConnectionInfo> read_client_connection_info(std::string_view text);
Result<EngineConnectionInfo> read_engine_connection_info(std::string_view text);

/// The ZeroMQ endpoint of a port: "tcp://127.0.0.1:5555", or "ipc:///tmp/polyxeus-a1b2c3/5555" for
/// Unix sockets.
std::string endpoint(std::string_view interface, int port);
/// The interface of the same Unix sockets for programs that put ':' between interface and port, as
/// ipyparallel does: "ipc:///tmp/polyxeus-a1b2c3/".
std::string colon_interface(const LocalInterface& local);
/// The endpoint that these programs form from it: "ipc:///tmp/polyxeus-a1b2c3/:5555". The
/// controller listens on it, too.
std::string colon_endpoint(const LocalInterface& local, int port);
/// Whether an interface is one of Unix sockets, "ipc://...".
bool is_unix(std::string_view interface);
/// Whether messages to this controller may pass an encrypted connection on their way: the sender's
/// own (`interface` is the one to which it connected), or that of an engine or client on another
/// host. In this case senders cut large buffers into pieces: see cut_pieces().
bool may_be_encrypted(const ConnectionCommon& info);

}  // namespace px
