#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "controller/relay/subscriber_topics.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/frames.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Publishes the notifications about engines (one is present, one has left, the cluster ends) to
/// all clients. Each subscriber has its own limit. One that does not read, e.g. because its process
/// was stopped, gets no more when most_bytes wait for it: when it reads again it is told which
/// engines left in the meantime and, like a new subscriber, which are present.
///
/// Membership uses it as follows: publish() for each event; whenever has_new_subscribers(), one
/// tell_new_subscribers() for each present engine, followed by have_told_new_subscribers(). A
/// subscriber may hear of an engine twice. The I/O thread owns it.
class NewsPublisher {
 public:
  /// The most bytes that may wait for one subscriber in libzmq's queue.
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  /// The most Kind::past messages that are kept here for one that does not read; the oldest are
  /// dropped.
  static constexpr std::size_t most_kept = 4096;

  /// socket  an XPUB that assigns_topics; outlives this.
  explicit NewsPublisher(net::Socket& socket) : socket_(socket), topics_(socket) {}

  /// Decides about a message to subscribers that do not read it.
  enum class Kind {
    present,  ///< Dropped: an engine is present, which they are told again when they read.
    past,     ///< Kept: an engine has left, the cluster ends.
  };
  /// Sends a signed message to all subscribers that read; never waits.
  void publish(const SharedFrames& message, Kind kind);

  /// The socket is readable: receives the new subscriptions.
  void receive_subscriptions();
  /// Whether there are subscribers that must be told of all engines: new ones, and those that read
  /// again.
  bool has_new_subscribers() const { return new_ > 0; }
  /// Sends a message only to these. (Subscribers of certain topics, which cannot be distinguished,
  /// get it as well, unless they do not read: they share one limit and are not told again.)
  void tell_new_subscribers(const SharedFrames& message);
  /// They have been told of all engines.
  void have_told_new_subscribers();

  /// Checks whether subscribers that did not read do so again.
  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Subscriber {
    net::SharedUnsentBytes unsent;
    bool is_new = true;
    bool is_behind = false;  // it does not read
    std::deque<SharedFrames> kept = {};
  };
  using Subscribers = std::map<std::string, Subscriber>;  // by topic
  /// False if the subscriber has gone.
  bool send(const std::string& topic, const Subscriber& subscriber, const Frames& message);
  void send_to_topics(const Frames& message);
  bool catch_up(const std::string& topic, Subscriber& subscriber);
  Subscribers::iterator drop(Subscribers::iterator gone);

  net::Socket& socket_;
  SubscriberTopics topics_;
  Subscribers subscribers_;
  const net::SharedUnsentBytes of_topics_ = std::make_shared<net::UnsentBytes>();
  std::size_t new_ = 0, behind_ = 0;
  /// When there are this many, all are told again: this is the only way to notice those that have
  /// gone.
  std::size_t clean_at_ = 256;
  Instant next_look_{};
};

}  // namespace px::controller
