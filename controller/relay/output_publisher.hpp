#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "controller/relay/output_allowance.hpp"
#include "controller/relay/send_budget.hpp"
#include "controller/relay/subscriber_topics.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/session.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The kind of a publication for clients that lag behind.
enum class Publication {
  output,  ///< Printed or displayed: a client that does not read loses it.
  state,   ///< Busy and idle, for which clients wait.
};

/// Publishes the output and the states of engines to all clients. Each subscriber has its own limit
/// (OutputAllowance), so that one that does not read, e.g. because its process was stopped, delays
/// neither engines nor other clients: publications that do not fit are dropped only for it. After a
/// loss it gets no more output until at most 8 MiB wait for it, and first of all a message
/// `output_lost` that says how much it has missed. Subscribers of certain topics share one limit,
/// and get no such message. The I/O thread owns it.
class OutputPublisher {
 public:
  /// The bytes beyond the limit of output that may wait for one subscriber before states are
  /// dropped, too.
  static constexpr std::size_t states_beyond = std::size_t{8} << 20;

  /// socket   an XPUB that assigns_topics; outlives this.
  /// session  signs output_lost.
  /// budget   counts the bytes that wait for subscribers, together with all channels.
  OutputPublisher(net::Socket& socket, Session session, std::shared_ptr<const SendBudget> budget);

  /// The socket is readable: receives the new subscriptions.
  void receive_subscriptions();
  /// Sends a message unchanged to all subscribers that have room for it; never waits.
  void publish(const Frames& message, Publication kind);
  /// Tells subscribers that read again what they have lost.
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
  /// Drops the message for the subscriber if it has no room for it.
  /// result  false if the subscriber has gone.
  bool send(std::span<const std::string_view> head, Subscriber& subscriber, const Frames& message,
            Publication kind);
  struct LostOutput {
    std::uint64_t messages, bytes;
  };
  bool reads_again(const Subscriber& subscriber) const;
  LostOutput note_loss(Subscriber& subscriber);
  /// False if the subscriber has gone.
  bool tell_of_loss(const std::string& topic, Subscriber& subscriber);

  net::Socket& socket_;
  SubscriberTopics topics_;
  Session session_;
  const std::shared_ptr<const SendBudget> budget_;
  Subscribers subscribers_;
  Subscriber of_topics_;     // all that have subscribed to certain topics
  std::size_t lagging_ = 0;  // the number of subscribers that have lost something and were not told
  Instant next_look_{};
};

}  // namespace px::controller
