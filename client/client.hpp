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

/// A host that ssh logs in to, to reach a controller that is open for nobody else.
struct SshOptions {
  std::string server = {};    ///< "[user@]host[:port]"; empty: what the file says under `ssh`.
  std::string key_file = {};  ///< Empty: those that ssh finds by itself.
};

/// Where a client finds its cluster.
struct ClientOptions {
  /// The profile's name; empty: that of the environment (IPP_PROFILE_DIR), then "default".
  std::string profile = {};
  /// The profile's folder, in place of its name.
  std::string profile_dir = {};
  /// The folder of all profiles; empty: IPYTHONDIR, then ~/.ipython.
  std::string ipython_dir = {};
  /// Which cluster of the profile; nothing: IPP_CLUSTER_ID, then the one without an id.
  std::optional<std::string> cluster_id = {};
  /// A connection file, in place of that of the profile.
  std::string file = {};
  /// For the connection file to appear, where it is that of a profile.
  Duration file_patience = {};
  /// For the controller to answer.
  Duration timeout = std::chrono::seconds(10);
  /// A host to tunnel through, where ssh is the only way to the controller. What the file says
  /// under `ssh` is used by itself.
  SshOptions ssh = {};
};

/// A connection to one cluster. Makes views, which do the work, and asks the controller about the
/// past. Any thread may use it. Errors are thrown as ClientError.
class Client {
 public:
  /// errors  not_found: no connection file: names the path and how to start a cluster; bad_input:
  ///         the file is malformed; lost_peer: no controller answers there; system: ssh makes
  ///         no tunnel.
  static Client connect(const ClientOptions& options = {});
  /// Where the controller was reached, of all addresses that it has: e.g. "tcp://10.0.0.1".
  const std::string& controller_address() const;

  // ---------------------------------------------------------------- engines and views
  /// The ids of the engines that are there now, ascending.
  std::vector<EngineId> ids() const;
  /// Waits until `count` engines are there.  errors  TimeoutError: says how many there are.
  void wait_for_engines(std::size_t count, Timeout timeout = {}) const;
  /// `handler` runs in the I/O thread, or in one that waits for an answer, whenever an engine joins
  /// or leaves; it must not wait.
  void on_engine_change(std::function<void(const EngineChange&)> handler) const;

  /// One engine.  errors, when it is used: not_found: no engine has this id.
  DirectView operator[](int id) const { return direct({EngineId{id}}); }
  /// All engines, those that join later too.
  DirectView all() const { return DirectView{core_, Targets::all()}; }
  /// These engines, in this order.
  DirectView direct(std::vector<EngineId> ids) const;
  /// The engines that are meant.
  DirectView direct(const Targets& targets) const { return DirectView{core_, targets}; }
  /// Any free engine, task by task.
  LoadBalancedView balanced(BalancedOptions options = {}) const;
  /// Many engines, by one request that the controller copies.
  BroadcastView broadcast(const Targets& targets = Targets::all()) const;

  // ---------------------------------------------------------------- orders
  /// Requests that were sent by this client and are not answered.
  std::vector<MessageId> outstanding() const;
  /// What of these requests (nothing: of all outstanding ones) has not begun is not to run.
  void abort(std::vector<MessageId> ids = {}) const;
  /// Ends these engines; with `hub` the controller as well.
  void shutdown(const Targets& targets, bool hub, Timeout timeout = std::chrono::seconds(30)) const;

  // ---------------------------------------------------------------- questions to the controller
  // Contents are those of ipyparallel's hub replies (docs/protocol.md), without "status".
  /// Tasks of each engine: counts, or with `verbose` their ids.
  Json queue_status(const Targets& targets = Targets::all(), bool verbose = false) const;
  /// The ids of all requests that the controller has on record, oldest first.
  std::vector<MessageId> history() const;
  /// Records that meet a query like {"completed": {"$ne": null}}; `keys` empty: all but buffers.
  Json db_query(const Json& query, const std::vector<std::string>& keys = {}) const;
  /// Which of these requests are pending and which completed.
  Json result_status(const std::vector<MessageId>& ids) const;
  /// The answers of requests of any client, once they are all there.
  AsyncResult result_by_id(const std::vector<MessageId>& ids) const;
  /// Sends them again, to any engine; the new ids in the same order.
  std::vector<MessageId> resubmit(const std::vector<MessageId>& ids) const;
  /// Lets the controller forget these results.
  void purge(const std::vector<MessageId>& ids) const;
  /// Lets the controller forget the results of all requests that are completed.
  void purge_everything() const;
  /// Any other question to the hub.
  Json ask_hub(const std::string& type, const Json& content) const;

  /// For the library.
  const std::shared_ptr<ClientCore>& core() const { return core_; }

 private:
  explicit Client(std::shared_ptr<ClientCore> core) : core_(std::move(core)) {}
  std::shared_ptr<ClientCore> core_;
};

}  // namespace px::client
