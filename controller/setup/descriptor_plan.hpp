#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "net/handshake_limiter.hpp"
#include "net/lifeline/lifeline.hpp"
#include "net/stream/stream_relay.hpp"

namespace px::controller {

/// The consequences of the controller's limit of open files and sockets (RLIMIT_NOFILE) for
/// connecting clients and engines: each takes several descriptors, and one that would take the last
/// ones is refused with a sentence that says what to do, before connections of others fail. A
/// value; opens no descriptor itself.
class DescriptorPlan {
 public:
  /// limit  the number that this process may have open.
  explicit DescriptorPlan(std::size_t limit) : limit_(limit) {}

  /// The limits of connections that have not shown a key yet: each kind may take a small part.
  net::LifelineLimits lifelines() const;
  net::StreamLimits streams() const;
  net::HandshakeLimiter::Bounds doors() const;
  std::size_t browsers() const;

  /// The descriptors that one client or engine takes here.
  static constexpr std::size_t of_client = 7, of_engine = 10;
  /// The descriptors that the controller takes before the first client or engine has connected.
  static constexpr std::size_t of_controller = 120;
  /// With fewer the controller does not start, because not even one client and one engine could
  /// connect.
  std::size_t needed() const { return of_controller + kept() + of_client + of_engine; }
  /// The number that is kept free for connected clients and engines, and for files.
  std::size_t kept() const;
  /// The reason why a peer that takes this number cannot connect; nothing if it can.
  /// who   "a client".
  /// left  the number that this process may still open.
  std::optional<std::string> why_not(std::string_view who, std::size_t takes,
                                     std::size_t left) const;

 private:
  std::size_t limit_;
};

}  // namespace px::controller
