#pragma once

#include <optional>
#include <string_view>

#include "wire/time.hpp"

namespace px::net {

/// Decides what to do when the ssh process of a tunnel has ended. A tunnel that was open once is
/// restored without limit, with pauses that double from 0.25 s to 15 s and start again at 0.25 s
/// after it was open for 10 s. One that was never open is given up, unless another attempt is
/// likely to succeed: a local port was taken, or sshd was too busy. Uses no process and no clock;
/// SshTunnel's thread owns it and performs its decisions.
class TunnelWatch {
 public:
  /// The next action of SshTunnel.
  enum class Next {
    start_later,       ///< Start ssh again at next_start().
    take_other_ports,  ///< Start it at once, with other local ports.
    give_up            ///< Report the failure to the caller of SshTunnel::open().
  };

  /// ssh has reported that the tunnel is open.
  void is_up(Instant now);
  /// ssh has ended.
  /// complaint  its text on stderr.
  Next ended(std::string_view complaint, Instant now);
  /// When to start ssh again; nothing while it runs, or if it is not started again.
  std::optional<Instant> next_start() const { return next_start_; }
  /// ssh is being started now.
  void started() { next_start_.reset(); }
  /// Whether the tunnel was open at some time.
  bool was_up() const { return was_up_; }

 private:
  /// In this order: how long to wait before another start, how long a tunnel must have been open
  /// for the pauses to start again, and how often to try before it was open for the first time.
  static constexpr Duration first_pause = std::chrono::milliseconds(250);
  static constexpr Duration longest_pause = std::chrono::seconds(15);
  static constexpr Duration steady = std::chrono::seconds(10);
  static constexpr int max_first_starts = 6;

  bool was_up_ = false;
  std::optional<Instant> up_since_;
  std::optional<Instant> next_start_;
  Duration pause_ = first_pause;
  int failures_ = 0;  // before it was open for the first time
};

}  // namespace px::net
