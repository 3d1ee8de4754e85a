#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/socket.hpp"

namespace px::controller {

/// Tells the subscribers of a publisher apart. libzmq says neither who they are nor how much waits
/// for each. So each subscription is given a topic of its own, and each publication goes out once
/// for each of them, behind a frame with that topic; the frames of the message itself are shared.
class SubscriberTopics {
 public:
  /// socket  an XPUB that assigns_topics.
  explicit SubscriberTopics(net::Socket& socket) : socket_(socket) {}

  /// The topics of those that have subscribed since.
  std::vector<std::string> receive_newcomers();
  /// Whether somebody has asked for certain topics only, and gets what begins with them.
  bool has_plain() const { return has_plain_; }

 private:
  net::Socket& socket_;
  bool has_plain_ = false;
  std::uint64_t last_number_ = 0;
};

}  // namespace px::controller
