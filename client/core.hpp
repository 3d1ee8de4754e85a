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

/// What a Client, its views and its results share: addresses work and sends it. Any thread may
/// call it. Throws ClientError.
class ClientCore {
 public:
  /// The last owner may be a handler that runs in the client's I/O thread. A forked child leaves
  /// the sockets and the memory to its parent.
  static std::shared_ptr<ClientCore> make(std::unique_ptr<Connection> connection);

  /// Throws in a forked child, as all that needs it does.
  Connection& connection() {
    process_.check();
    return *connection_;
  }
  bool is_of_this_process() const { return process_.is_here(); }

  /// The engines that are meant, of those that are there now.
  std::vector<EngineId> resolve(const Targets& targets) const;
  /// For those who find no engine.  errors  lost_peer, thrown: the connection is closed, or broken.
  void check_up() const;

  /// One request to each of these engines; all the same, or each its own.
  std::shared_ptr<Call> send_direct(const std::vector<EngineId>& ids, const Work& work,
                                    const Json& label);
  struct Addressed {
    EngineId engine;
    Work work;
  };
  std::shared_ptr<Call> send_direct(const std::vector<Addressed>& all, const Json& label,
                                    const Json& together = nullptr);
  /// Requests for whichever engines are free.
  std::shared_ptr<Call> send_balanced(const std::vector<Work>& all, const TaskOptions& options);
  /// One message, which the controller copies to these engines; one for each host where it has
  /// large buffers.
  std::shared_ptr<Call> send_broadcast(const std::vector<EngineId>& ids, const Work& work,
                                       const Json& label);
  /// An order that passes what waits at these engines.
  std::shared_ptr<Call> send_control(const std::vector<EngineId>& ids, const std::string& type,
                                     const Json& content);
  /// A question to the controller.
  std::shared_ptr<Call> send_hub(const std::string& type, const Json& content);
  /// A question to the controller; waits for the answer.
  /// errors  lost_peer: it has ended; TimeoutError; RemoteError: it answered with an error.
  Reply ask_hub(const std::string& type, const Json& content, Duration timeout);

 private:
  explicit ClientCore(std::unique_ptr<Connection> connection)
      : connection_(std::move(connection)) {}

  std::shared_ptr<Call> post_direct(const std::vector<Addressed>& all,
                                    const EngineDirectory& engines, const Json& label,
                                    const Json& together);
  Work in_shared_memory(const Work& work);
  std::map<std::string, Work> shipped_to(const std::vector<EngineId>& ids, const Work& work,
                                         const EngineDirectory& engines) const;
  std::vector<std::pair<Work, std::vector<EngineId>>> broadcast_parts(
      const std::vector<EngineId>& ids, const Work& work, const EngineDirectory& engines);
  bool all_share_memory(const Work& work, const std::vector<EngineId>& ids,
                        const EngineDirectory& engines) const;
  Json together_of(const Work& work, const std::vector<EngineId>& ids);
  static EngineUuid uuid_of(EngineId id, const EngineDirectory& engines);
  std::shared_ptr<Call> post(std::vector<Outgoing> messages, std::vector<TaskSent> tasks,
                             OutputEnd output_end, const std::vector<std::size_t>& places = {});
  void check_open() const;
  static void check_understood(const Work& work, const std::vector<EngineId>& ids,
                               const std::vector<EngineId>& of_ipyparallel);
  TaskOptions understood(const std::vector<Work>& all, TaskOptions options) const;

  const OwnProcess process_;
  std::unique_ptr<Connection> connection_;
  std::atomic<std::uint64_t> cells_ = 0;  ///< That several engines got together.
};

}  // namespace px::client
