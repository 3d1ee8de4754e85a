#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "controller/relay/subscriber_topics.hpp"
#include "net/socket.hpp"
#include "net/unsent_bytes.hpp"
#include "wire/frames.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Publishes the news of engines to all clients. One that does not read, e.g. as it was stopped,
/// gets no more than a bounded number of bytes: when it reads again it is told which engines left
/// meanwhile, and, like a newcomer, of all that are there.
class NewsPublisher {
 public:
  /// What may wait for one subscriber,
  static constexpr std::size_t most_bytes = std::size_t{1} << 20;
  /// and how many messages are kept for it that are not told again; the oldest go.
  static constexpr std::size_t most_kept = 4096;

  /// socket  an XPUB that assigns_topics.
  explicit NewsPublisher(net::Socket& socket) : socket_(socket), topics_(socket) {}

  /// What is to become of a message for those who do not read.
  enum class Kind {
    present,  ///< Dropped: an engine that is there, which newcomers are told again.
    past,     ///< Kept: an engine has left, the cluster ends.
  };
  void publish(const SharedFrames& message, Kind kind);

  void receive_subscriptions();
  /// Whether there are some who are to be told of all engines.
  bool has_newcomers() const { return newcomers_ > 0; }
  /// To these alone.
  void tell_newcomers(const SharedFrames& message);
  /// They have been told.
  void have_told_newcomers();

  void on_time(Instant now);
  std::optional<Instant> next_deadline() const;

 private:
  struct Subscriber {
    net::SharedUnsentBytes unsent;
    bool is_newcomer = true;
    bool is_behind = false;  // it does not read
    std::deque<SharedFrames> kept = {};
  };
  using Subscribers = std::map<std::string, Subscriber>;  // by topic
  /// False: the subscriber has gone.
  bool send(const std::string& topic, const Subscriber& subscriber, const Frames& message);
  bool catch_up(const std::string& topic, Subscriber& subscriber);
  Subscribers::iterator drop(Subscribers::iterator gone);

  net::Socket& socket_;
  SubscriberTopics topics_;
  Subscribers subscribers_;
  std::size_t newcomers_ = 0, behind_ = 0;
  /// When there are so many, all are told again: of those that have gone nothing else is heard.
  std::size_t clean_at_ = 256;
  Instant next_look_{};
};

}  // namespace px::controller
