#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/balanced_view.hpp"
#include "client/connection/engine_change.hpp"
#include "client/direct_view.hpp"
#include "client/targets.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::client {

/// An ssh server through which a client connects to a controller that cannot be reached directly.
struct SshOptions {
  std::string server = {};    ///< "[user@]host[:port]"; empty: the one in the connection file.
  std::string key_file = {};  ///< Empty: the keys that ssh finds.
};

/// How a client finds its cluster. By default, as in ipyparallel, this is the cluster without an id
/// in the profile "default".
struct ClientOptions {
  /// The profile's name; if it is empty, "default". The option is ignored if the variable
  /// $IPP_PROFILE_DIR is set, as in ipyparallel.
  std::string profile = {};
  /// The profile's folder; if set, `profile` is ignored.
  std::string profile_dir = {};
  /// The folder that holds all profiles; if it is empty, the folder $IPYTHONDIR, or else
  /// ~/.ipython.
  std::string ipython_dir = {};
  /// The id of the cluster. If there is no value, $IPP_CLUSTER_ID is the id; if this variable is
  /// not set, the cluster without an id is used.
  std::optional<std::string> cluster_id = {};
  /// The path of a connection file; if set, the options above are ignored.
  std::string file = {};
  /// How long to wait for the profile's connection file, if a cluster is starting and the file does
  /// not exist yet. Not used with `file`.
  Duration file_patience = {};
  /// How long to wait for the controller's answer.
  Duration timeout = std::chrono::seconds(10);
  /// The ssh server to use if ssh is the only way to the controller. The option is not needed if
  /// the connection file names an ssh server.
  SshOptions ssh = {};
};

/// A connection to one cluster, and the main class of this library. A Client makes views, which run
/// code on engines, and asks the controller about engines and past requests. Copies share the
/// connection. The connection is closed when the last copy and the last view are destroyed. Any
/// thread may use a Client. Errors are thrown as ClientError.
///
/// A Client owns an I/O thread and, with a tunnel, an ssh process. If the controller is restarted,
/// the client reconnects and sends unanswered requests again. A Client that was made before a fork
/// throws ClientError (lost_peer) in the child process: create a new Client there.
class Client {
 public:
  /// Reads the connection file, connects, and waits until the controller has answered.
  /// errors  not_found: there is no connection file (the message names the path and says how to
  ///         start a cluster); bad_input: the file is malformed, or the controller refuses the
  ///         client; lost_peer: no controller answers with the right key; system: ssh opens no
  ///         tunnel, or too few file descriptors are left.
  static Client connect(const ClientOptions& options = {});
  /// The address of the controller to which this client is connected, for example "tcp://10.0.0.1".
  /// (A controller may have several addresses.)
  const std::string& controller_address() const;

  // ---------------------------------------------------------------- engines and views
  /// The ids of the engines that are registered now, in ascending order.
  std::vector<EngineId> ids() const;
  /// Waits until `count` engines are registered.
  /// errors  TimeoutError: the message says how many engines are registered; ClientError lost_peer:
  ///         the controller has ended.
  void wait_for_engines(std::size_t count, Timeout timeout = {}) const;
  /// Calls `handler` whenever an engine joins or leaves, on the I/O thread or on a thread that
  /// waits for an answer. The handler must not block or throw. It remains installed for the life of
  /// the connection.
  void on_engine_change(std::function<void(const EngineChange&)> handler) const;

  /// A view of one engine.
  /// errors  not_found: no engine has this id.
  DirectView operator[](int id) const { return direct({EngineId{id}}); }
  /// A view of all engines; engines that join later are included.
  DirectView all() const { return DirectView{core_, Targets::all()}; }
  /// A view of these engines, in this order.
  /// errors  not_found: no engine has one of the ids.
  DirectView direct(std::vector<EngineId> ids) const;
  /// A view of these engines. At each use of the view, the targets are converted to ids of the
  /// engines that are present then.
  DirectView direct(const Targets& targets) const { return DirectView{core_, targets}; }
  /// Makes an MPI communicator of these engines, without the other ranks of their MPI world, and
  /// returns a view of the engines. On the engines the communicator is the variable `name`: an
  /// MPI_Comm in C++, mpi4py's MPI.Comm in Python. The ranks of the communicator are in the order
  /// of `ids`. Waits until the engines have made the communicator.
  /// ids     the engines, which belong to one MPI world. The id of each engine must be its rank.
  ///         C++ engines and Python engines can be in one communicator.
  /// is_new  whether to make a new communicator even if these engines still have one that can be
  ///         used.
  /// errors  ClientError bad_input: `ids` is empty or contains an id twice, or `name` cannot be the
  ///         name of a variable; not_found: no engine has one of the ids; unsupported: the engines
  ///         are not ranks of one MPI world; RemoteError, CompositeError: MPI failed.
  DirectView gang(std::vector<EngineId> ids, const std::string& name = "comm",
                  bool is_new = false) const;
  /// A view that runs each task on a free engine, or on several ranks (BalancedOptions::ranks).
  LoadBalancedView balanced(BalancedOptions options = {}) const;
  /// A view for many engines. It sends one request to the controller, and the controller copies the
  /// request to the engines.
  BroadcastView broadcast(const Targets& targets = Targets::all()) const;

  // ---------------------------------------------------------------- orders
  /// The ids of the requests of this client that have not been answered yet.
  std::vector<MessageId> outstanding() const;
  /// Cancels those requests of the list that have not started on an engine. Waits until the engines
  /// have confirmed the cancellation.
  /// ids  the requests; if the list is empty, all outstanding requests.
  void abort(std::vector<MessageId> ids = {}) const;
  /// Shuts these engines down, and if `hub` is true, also the controller. Waits until these
  /// processes have ended: at most `timeout` for the engines, and at most `timeout` for the
  /// controller.
  void shutdown(const Targets& targets, bool hub, Timeout timeout = std::chrono::seconds(30)) const;

  // ---------------------------------------------------------------- questions to the controller
  // These functions wait at most 60 s for the controller's answer, and then throw TimeoutError.
  // They throw RemoteError if the controller refuses the question. The results have the contents of
  // ipyparallel's hub replies (docs/protocol.md), without "status".
  /// Returns, for each engine, the number of requests in its queue, the number of its tasks and the
  /// number of its completed requests. If `verbose` is true, returns the ids of these requests
  /// instead of the numbers.
  Json queue_status(const Targets& targets = Targets::all(), bool verbose = false) const;
  /// The ids of all requests in the controller's records, of all clients, oldest first.
  std::vector<MessageId> history() const;
  /// The records that match a query in the style of MongoDB, such as {"completed": {"$ne": null}},
  /// as a list of objects.
  /// keys  the members of the records to return; if the list is empty, all members except buffers.
  Json db_query(const Json& query, const std::vector<std::string>& keys = {}) const;
  /// Returns which of these requests are pending and which are completed.
  Json result_status(const std::vector<MessageId>& ids) const;
  /// Returns the answers to requests of any client, from the controller's records. The function
  /// returns at once; its result is ready when all these requests have ended. If the controller
  /// does not know a request, its result is a failure with the name "KeyError".
  AsyncResult result_by_id(const std::vector<MessageId>& ids) const;
  /// Asks the controller to run these requests again, on any engine. Returns the new ids in the
  /// same order.
  std::vector<MessageId> resubmit(const std::vector<MessageId>& ids) const;
  /// Removes these requests and their results from the controller's records.
  void purge(const std::vector<MessageId>& ids) const;
  /// Removes all completed requests and their results from the controller's records.
  void purge_everything() const;
  /// Sends any other query of ipyparallel's protocol to the controller.
  /// type     the type of the query, such as "connection_request".
  /// content  the content of the query, a JSON object.
  /// result   the content of the reply, without "status".
  Json ask_hub(const std::string& type, const Json& content) const;

  /// Used by the library only.
  const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  explicit Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  std::shared_ptr<ClientCore> core_;
};

}  // namespace px::client
