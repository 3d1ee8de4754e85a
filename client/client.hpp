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

/// An ssh server that is used to reach a controller to which other hosts cannot connect.
struct SshOptions {
  std::string server = {};    ///< "[user@]host[:port]"; empty: the one in the connection file.
  std::string key_file = {};  ///< Empty: the keys that ssh finds.
};

/// How a client finds its cluster. The defaults are those of ipyparallel: the cluster without an id
/// of the profile "default".
struct ClientOptions {
  /// The profile's name; empty: "default". Ignored if $IPP_PROFILE_DIR is set, as in ipyparallel.
  std::string profile = {};
  /// The profile's folder; if set, `profile` is ignored.
  std::string profile_dir = {};
  /// The folder that holds all profiles; empty: $IPYTHONDIR, then ~/.ipython.
  std::string ipython_dir = {};
  /// Which cluster of the profile; nothing: $IPP_CLUSTER_ID, then the one without an id.
  std::optional<std::string> cluster_id = {};
  /// The path of a connection file; if set, the options above are ignored.
  std::string file = {};
  /// How long to wait for the profile's connection file to appear, i.e. for a cluster that is
  /// starting. Not used with `file`.
  Duration file_patience = {};
  /// How long to wait for the controller's answer.
  Duration timeout = std::chrono::seconds(10);
  /// The ssh server to use if ssh is the only way to the controller. Not needed if the connection
  /// file names one.
  SshOptions ssh = {};
};

/// A connection to one cluster, and the main class of this library. It makes views, which run code
/// on engines, and asks the controller about engines and past requests. A value: copies share the
/// connection, which is closed when the last copy and the last view are gone. Any thread may use
/// it. Errors are thrown as ClientError.
///
/// It owns an I/O thread and, with a tunnel, an ssh process. If the controller is restarted the
/// client reconnects and sends unanswered requests again. In a forked child process it throws
/// ClientError (lost_peer); create a new Client there.
class Client {
 public:
  /// Reads the connection file, connects, and waits until the controller has answered.
  /// errors  not_found: there is no connection file (the message names the path and says how to
  ///         start a cluster); bad_input: the file is malformed, or the controller refuses the
  ///         client; lost_peer: no controller answers with the right key; system: ssh opens no
  ///         tunnel, or too few file descriptors are left.
  static Client connect(const ClientOptions& options = {});
  /// The address of the controller to which this client is connected, of all addresses that the
  /// controller has, e.g. "tcp://10.0.0.1".
  const std::string& controller_address() const;

  // ---------------------------------------------------------------- engines and views
  /// The ids of the engines that are registered now, ascending.
  std::vector<EngineId> ids() const;
  /// Waits until `count` engines are registered.
  /// errors  TimeoutError: the message says how many there are; ClientError lost_peer: the
  ///         controller has ended.
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
  /// A view of these engines. The targets are resolved at each use of the view.
  DirectView direct(const Targets& targets) const { return DirectView{core_, targets}; }
  /// A view that runs each task on an engine that is free.
  LoadBalancedView balanced(BalancedOptions options = {}) const;
  /// A view that sends the controller one request for many engines, which the controller copies to
  /// them.
  BroadcastView broadcast(const Targets& targets = Targets::all()) const;

  // ---------------------------------------------------------------- orders
  /// The requests of this client that have not been answered yet.
  std::vector<MessageId> outstanding() const;
  /// Cancels those of these requests that have not started on an engine; waits until the engines
  /// have confirmed it.
  /// ids  empty: all outstanding requests.
  void abort(std::vector<MessageId> ids = {}) const;
  /// Shuts these engines down, and with `hub` the controller as well. Waits for the engines and for
  /// the controller, at most `timeout` for each of the two.
  void shutdown(const Targets& targets, bool hub, Timeout timeout = std::chrono::seconds(30)) const;

  // ---------------------------------------------------------------- questions to the controller
  // These functions wait at most 60 s for the controller's answer, then throw TimeoutError. They
  // throw RemoteError if the controller refuses the question. The contents are those of
  // ipyparallel's hub replies (docs/protocol.md), without "status".
  /// The numbers of requests in each engine's queue, of its tasks and of its completed requests;
  /// with `verbose` their ids.
  Json queue_status(const Targets& targets = Targets::all(), bool verbose = false) const;
  /// The ids of all requests in the controller's records, of all clients, oldest first.
  std::vector<MessageId> history() const;
  /// The records that match a query in the style of MongoDB, such as {"completed": {"$ne": null}},
  /// as a list of objects.
  /// keys  which members to return; empty: all but buffers.
  Json db_query(const Json& query, const std::vector<std::string>& keys = {}) const;
  /// Which of these requests are pending and which are completed.
  Json result_status(const std::vector<MessageId>& ids) const;
  /// The answers to requests of any client, from the controller's records. Returns at once; the
  /// result is ready when all these requests have ended. A request that the controller does not
  /// know fails as "KeyError".
  AsyncResult result_by_id(const std::vector<MessageId>& ids) const;
  /// Asks the controller to run these requests again, on any engine. Returns the new ids in the
  /// same order.
  std::vector<MessageId> resubmit(const std::vector<MessageId>& ids) const;
  /// Removes these requests and their results from the controller's records.
  void purge(const std::vector<MessageId>& ids) const;
  /// Removes all completed requests and their results from the controller's records.
  void purge_everything() const;
  /// Asks the controller another question of ipyparallel's protocol.
  /// type     e.g. "connection_request".
  /// content  of the request, a JSON object.
  /// result   the content of the reply, without "status".
  Json ask_hub(const std::string& type, const Json& content) const;

  /// Used by the library only.
  const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  explicit Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  std::shared_ptr<ClientCore> core_;
};

}  // namespace px::client
