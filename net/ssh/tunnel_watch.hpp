#pragma once

#include <optional>
#include <string_view>

#include "wire/time.hpp"

namespace px::net {

/// Decides what becomes of a tunnel whose ssh has ended. Sees no process and no clock.
class TunnelWatch {
 public:
  enum class Next {
    start_later,       ///< At next_start().
    take_other_ports,  ///< At once, with other ports of this host.
    give_up            ///< It was never there, and will not be.
  };

  /// ssh has made the tunnel.
  void is_up(Instant now);
  /// ssh has ended and said `complaint`. A tunnel that was there once is made again for ever.
  Next ended(std::string_view complaint, Instant now);
  std::optional<Instant> next_start() const { return next_start_; }
  /// It is being started now.
  void started() { next_start_.reset(); }
  bool was_up() const { return was_up_; }

 private:
  static constexpr Duration first_pause = std::chrono::milliseconds(250);
  static constexpr Duration longest_pause = std::chrono::seconds(15);
  static constexpr Duration steady = std::chrono::seconds(10);
  static constexpr int max_first_starts = 6;

  bool was_up_ = false;
  std::optional<Instant> up_since_;
  std::optional<Instant> next_start_;
  Duration pause_ = first_pause;
  int failures_ = 0;  // before it was there for the first time
};

}  // namespace px::net
