#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/connection/connection.hpp"
#include "client/error.hpp"
#include "client/requests/own_process.hpp"
#include "client/targets.hpp"

namespace px::client {

/// The object that a Client, its views and its results share. A ClientCore addresses requests to
/// engines, and posts the messages to the I/O thread. For each engine, it also decides how large
/// buffers travel: in the message, through the shared memory of this host, or once for all engines
/// of another host. Only ask_hub() waits. Any thread may call the functions of a ClientCore. Errors
/// are thrown as ClientError: not_found if an engine is not present, lost_peer if the connection is
/// closed, unsupported if a native request is sent to an engine of ipyparallel.
class ClientCore {
 public:
  /// Returns a shared ClientCore. If the last owner of the ClientCore is a handler that runs on the
  /// client's I/O thread, another thread destroys the ClientCore. In a forked child the ClientCore
  /// is not destroyed, because its sockets and memory belong to the parent.
  static std::shared_ptr<ClientCore> make(std::unique_ptr<Connection> connection);

  /// The connection. In a forked child, this function and all functions that use the connection
  /// throw ClientError (lost_peer).
  Connection& connection() {
    process_.check();
    return *connection_;
  }
  /// Whether this is the process that has made the ClientCore, and not a forked child.
  bool is_of_this_process() const { return process_.is_here(); }

  /// The ids of the registered engines that `targets` selects.
  /// errors  not_found: no engine is registered, or a named engine is not; lost_peer: the
  ///         connection is closed or broken, or this process is a forked child.
  std::vector<EngineId> resolve(const Targets& targets) const;
  /// Throws lost_peer if the connection is closed or broken. Functions that find no engine call
  /// check_up(), because a lost connection may be the reason.
  void check_up() const;

  /// Sends one request to each of these engines.
  /// label  any JSON, which the controller's records keep; null: no label.
  std::shared_ptr<Call> send_direct(const std::vector<EngineId>& ids, const RequestBody& body,
                                    const Json& label);
  /// A RequestBody, and the engine that gets it.
  struct Addressed {
    EngineId engine;
    RequestBody body;
  };
  /// Sends a different request to each engine.
  std::shared_ptr<Call> send_direct(const std::vector<Addressed>& all, const Json& label);
  /// Sends each request as a task for any free engine.
  std::shared_ptr<Call> send_balanced(const std::vector<RequestBody>& all,
                                      const TaskOptions& options);
  /// Sends one message that the controller copies to these engines. If large buffers must travel to
  /// other hosts, the engines are divided into groups that share memory, and each group gets a
  /// message of its own.
  std::shared_ptr<Call> send_broadcast(const std::vector<EngineId>& ids, const RequestBody& body,
                                       const Json& label);
  /// Sends a control message to each of these engines. An engine handles the control message before
  /// its waiting requests, even while user code runs.
  std::shared_ptr<Call> send_control(const std::vector<EngineId>& ids, const std::string& type,
                                     const Json& content);
  /// Sends a question to the controller (the hub).
  std::shared_ptr<Call> send_hub(const std::string& type, const Json& content);
  /// Sends a question to the controller and waits for the answer.
  /// errors  lost_peer: the controller has ended; TimeoutError; RemoteError: the controller
  ///         answered with an error.
  Reply ask_hub(const std::string& type, const Json& content, Duration timeout);

 private:
  explicit ClientCore(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  std::shared_ptr<Call> post_direct(const std::vector<Addressed>& all,
                                    const EngineDirectory& engines, const Json& label,
                                    const Json& together);
  RequestBody in_shared_memory(const RequestBody& body);
  std::map<std::string, RequestBody> shipped_to(const std::vector<EngineId>& ids,
                                                const RequestBody& body,
                                                const EngineDirectory& engines) const;
  std::vector<std::pair<RequestBody, std::vector<EngineId>>> broadcast_parts(
      const std::vector<EngineId>& ids, const RequestBody& body, const EngineDirectory& engines);
  bool all_share_memory(const RequestBody& body, const std::vector<EngineId>& ids,
                        const EngineDirectory& engines) const;
  Json together_of(const RequestBody& body, const std::vector<EngineId>& ids);
  static EngineUuid uuid_of(EngineId id, const EngineDirectory& engines);
  std::shared_ptr<Call> post(std::vector<OutgoingRequest> messages, std::vector<TaskSent> tasks,
                             OutputEnd output_end, const std::vector<std::size_t>& places = {});
  void check_open() const;
  static void check_understood(const RequestBody& body, const std::vector<EngineId>& ids,
                               const std::vector<EngineId>& of_ipyparallel);
  TaskOptions understood(const std::vector<RequestBody>& all, TaskOptions options) const;

  const OwnProcess process_;
  std::unique_ptr<Connection> connection_;
  std::atomic<std::uint64_t> cells_ = 0;  ///< The number of cells sent to several engines.
};

/// The ids as a JSON list of numbers.
Json numbers_of(const std::vector<EngineId>& ids);

}  // namespace px::client
