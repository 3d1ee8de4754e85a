#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include <px/net/lifeline.hpp>
#include <px/net/loop.hpp>
#include <px/net/socket.hpp>
#include <px/wire/connection_info.hpp>
#include <px/wire/session.hpp>

namespace px {

/// What became of all engines of a swarm; any thread may look.
struct SwarmCounts {
  std::atomic<std::size_t> registered = 0;  ///< The controller has given them an id.
  std::atomic<std::size_t> refused = 0;
  std::atomic<std::size_t> beats = 0;  ///< Pings answered.
  std::atomic<std::size_t> answered = 0;
};

/// The connections of one engine of a swarm: it registers, answers heartbeats and holds its
/// lifeline as pxengine does, and gives requests to its owner, who says when to answer.
class SwarmEngine {
 public:
  /// `socket`: through which the answer goes.
  using Handler = std::function<void(std::size_t socket, SharedFrames request)>;
  SwarmEngine(Context& context, Loop& loop, const EngineConnectionInfo& info, EngineUuid uuid,
              SwarmCounts& counts, Handler on_request);
  /// Ends without a word, as a process that is killed.
  ~SwarmEngine();
  SwarmEngine(const SwarmEngine&) = delete;
  SwarmEngine& operator=(const SwarmEngine&) = delete;

  /// Answers an apply_request or an execute_request; the latter also in what it publishes.
  void answer(std::size_t socket, const Frames& request);
  /// Tells the controller that it leaves.
  void say_goodbye();

  /// Connections of one engine, and the descriptors that they need: each socket has one for itself
  /// and one for its connection, the lifeline one more for its own waiting.
  static constexpr std::size_t socket_count = 8, descriptor_count = 2 * socket_count + 2;

 private:
  static constexpr std::size_t request_sockets = 4;  // mux, task, broadcast, control
  Socket make(SocketKind kind) const;
  void dial(Socket& socket, int port);
  void on_registration(const Frames& reply);
  void connect_work();
  void connect_heart();
  void publish(std::string_view type, const std::string& parent, std::string content);

  Context& context_;
  Loop& loop_;
  const EngineConnectionInfo& info_;
  EngineUuid uuid_;
  SwarmCounts& counts_;
  Handler on_request_;
  Session session_;
  int id_ = -1;
  std::string topic_;
  Socket registration_;
  std::vector<Socket> requests_;
  std::optional<Socket> output_, ping_, pong_;
  LifelineClient lifeline_;
};

}  // namespace px
