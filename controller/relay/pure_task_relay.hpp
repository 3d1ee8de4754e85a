#pragma once

#include <cstddef>
#include <optional>

#include "controller/relay/relay_context.hpp"
#include "controller/relay/waiting_messages.hpp"
#include "net/socket.hpp"

namespace px::controller {

/// The task channel with the scheme `pure`, used instead of TaskRelay: the engines' socket is a
/// DEALER, which distributes the tasks in turn without regard to load, dependencies or retries.
/// There is no journal. A task is in `waiting_` only while no engine is connected; after that it is
/// in libzmq's queue for its engine, and is lost if that engine dies.
class PureTaskRelay {
 public:
  /// most_bytes  of tasks that wait for the first engine; further ones are answered with the error
  ///             Overloaded.
  PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines,
                std::size_t most_bytes);
  /// The clients' socket, or the engines', is readable: receives up to messages_per_turn.
  void receive_requests();
  void receive_replies();
  /// Tries again to send tasks that arrived while no engine was connected.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const { return waiting_.next_deadline(); }

 private:
  bool try_send(const Frames& frames);
  void keep(const SharedFrames& frames, const Envelope& envelope);
  RelayContext& shared_;
  net::Socket& client_;
  net::Socket& engines_;
  const std::size_t most_bytes_;
  WaitingMessages waiting_;  // for a peer without a name: any engine
};

}  // namespace px::controller
