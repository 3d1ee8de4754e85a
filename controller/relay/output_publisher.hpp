#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/relay/output_room.hpp"
#include "controller/relay/send_budget.hpp"
#include "controller/relay/subscriber_topics.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// What a publication is for those who lag behind.
enum class Publication {
  output,  ///< Printed, displayed: a client that does not read loses it.
  state,   ///< Busy and idle: what clients wait for.
};

/// Publishes output to all clients. One that does not read, e.g. as it was stopped, has a bound of
/// its own: what does not fit is dropped for it alone, and it is told so when it reads again.
class OutputPublisher {
 public:
  /// For one subscriber: states that come when more output waits are dropped, too.
  static constexpr std::size_t states_beyond = std::size_t{8} << 20;

  /// socket  an XPUB that assigns_topics.
  OutputPublisher(net::Socket& socket, Session session, std::shared_ptr<const SendBudget> budget);

  void receive_subscriptions();
  void publish(const Frames& message, Publication kind);
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Subscriber {
    net::SharedUnsentBytes unsent;
    OutputRoom room;
    std::uint64_t lost_messages = 0, lost_bytes = 0;
  };
  using Subscribers = std::map<std::string, Subscriber>;  // by topic
  bool has_room(Subscriber& subscriber, Publication kind) const;
  /// False: the subscriber has gone.
  bool tell_of_loss(const std::string& topic, Subscriber& subscriber);

  net::Socket& socket_;
  SubscriberTopics topics_;
  Session session_;
  const std::shared_ptr<const SendBudget> budget_;
  Subscribers subscribers_;
  std::size_t lagging_ = 0;  // subscribers that have lost something and do not know
  Instant next_look_{};
};

}  // namespace px::controller
