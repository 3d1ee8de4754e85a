#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/socket.hpp"

namespace px::controller {

/// Distinguishes the subscribers of a publisher. libzmq tells neither their identities nor how much
/// waits for each. So each subscription to everything is given a separate topic instead of the
/// empty one, and the publisher sends each message once for each of them, after a frame with that
/// topic; the frames of the message itself are shared. The departure of a subscriber is noticed
/// only when sending to its topic fails. The I/O thread owns it.
class SubscriberTopics {
 public:
  /// socket  an XPUB that assigns_topics; outlives this.
  explicit SubscriberTopics(net::Socket& socket) : socket_(socket) {}

  /// The topics of the clients that have subscribed to everything since the last call.
  std::vector<std::string> receive_new_subscribers();
  /// Whether a subscriber has ever subscribed only to certain topics. Such subscribers share one
  /// copy without a topic in front, which must be sent as well, and one limit.
  bool has_plain() const { return has_plain_; }

 private:
  net::Socket& socket_;
  bool has_plain_ = false;
  std::uint64_t last_number_ = 0;
};

}  // namespace px::controller
