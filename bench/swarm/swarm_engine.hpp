#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "net/lifeline/lifeline.hpp"
#include "net/loop.hpp"
#include "net/socket.hpp"
#include "wire/connection_info.hpp"
#include "wire/measures/duration_counts.hpp"
#include "wire/session.hpp"

namespace px::bench {

/// What became of all engines of a swarm; any thread may look.
struct SwarmCounts {
  std::atomic<std::size_t> registered = 0;  ///< The controller has given them an id.
  std::atomic<std::size_t> refused = 0;
  std::atomic<std::size_t> beats = 0;  ///< Pings answered.
  std::atomic<std::size_t> answered = 0;
};

/// The connections of one engine of a swarm: it registers, answers heartbeats, says what it
/// measures and holds its lifeline as pxengine does, and gives requests to its owner, who says when
/// to answer.
class SwarmEngine {
 public:
  /// `socket`: through which the answer goes.
  using Handler = std::function<void(std::size_t socket, SharedFrames request)>;
  /// tells_measures  if the controller takes them.
  SwarmEngine(net::Context& context, net::Loop& loop, const EngineConnectionInfo& info,
              EngineUuid uuid, bool tells_measures, SwarmCounts& counts, Handler on_request);
  /// Ends without a word, as a process that is killed.
  ~SwarmEngine();
  SwarmEngine(SwarmEngine&&) = delete;

  /// Answers an apply_request or an execute_request; the latter also in what it publishes.
  void answer(std::size_t socket, const Frames& request);
  /// Tells the controller that it leaves.
  void say_goodbye();

  /// Connections of one engine, and the descriptors that they need: each socket has one for itself
  /// and one for its connection, the lifeline one more for its own waiting.
  static constexpr std::size_t socket_count = 8, descriptor_count = 2 * socket_count + 2;

 private:
  static constexpr std::size_t request_sockets = 4;  // mux, task, broadcast, control
  net::Socket make(net::SocketKind kind) const;
  void dial(net::Socket& socket, int port);
  void on_registration(const Frames& reply);
  void connect_work();
  void connect_heart();
  void tell_measures();
  void publish(std::string_view type, const std::string& parent, std::string content);

  net::Context& context_;
  net::Loop& loop_;
  const EngineConnectionInfo& info_;
  EngineUuid uuid_;
  SwarmCounts& counts_;
  Handler on_request_;
  Session session_;
  int id_ = -1;
  const bool may_tell_measures_;
  bool tells_measures_ = false;  // as the controller takes them, too
  std::uint64_t answered_ = 0;
  DurationCounts durations_;  // since the latest measures
  std::string topic_;
  net::Socket registration_;
  std::vector<net::Socket> requests_;
  std::optional<net::Socket> output_, ping_, pong_;
  net::LifelineClient lifeline_;
};

}  // namespace px::bench
