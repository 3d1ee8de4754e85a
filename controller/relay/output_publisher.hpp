#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/relay/output_allowance.hpp"
#include "controller/relay/send_budget.hpp"
#include "controller/relay/subscriber_topics.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// What a publication is for clients that lag behind.
enum class Publication {
  output,  ///< Printed, displayed: a client that does not read loses it.
  state,   ///< Busy and idle: what clients wait for.
};

/// Publishes what engines print, show and say of their state to all clients. Each subscriber has a
/// bound of its own (OutputAllowance), so that one that does not read, e.g. as its process was
/// stopped, delays neither engines nor other clients: what does not fit is dropped for it alone.
/// Once it has lost something it gets no more output until at most 8 MiB wait for it, and then
/// first a message `output_lost` that says how much it has missed. The I/O thread owns it.
class OutputPublisher {
 public:
  /// So many bytes more than output may wait for one subscriber before states are dropped, too.
  static constexpr std::size_t states_beyond = std::size_t{8} << 20;

  /// socket   an XPUB that assigns_topics; outlives this.
  /// session  signs output_lost.
  /// budget   what waits for subscribers counts there, together with all channels.
  OutputPublisher(net::Socket& socket, Session session, std::shared_ptr<const SendBudget> budget);

  /// The socket is readable: takes in the new subscriptions.
  void receive_subscriptions();
  /// Sends a message as it came to all subscribers that have room for it; never waits.
  void publish(const Frames& message, Publication kind);
  /// Tells those that read again what they have lost.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Subscriber {
    net::SharedUnsentBytes unsent;
    OutputAllowance allowance;
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
