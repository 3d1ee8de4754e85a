#pragma once

#include <optional>
#include <string_view>

#include "wire/time.hpp"

namespace px::net {

/// Decides what to do when the ssh process of a tunnel has ended. A tunnel that was open once is
/// made again for ever, with pauses that double from 0.25 s to 15 s and begin anew after it was
/// open for 10 s. One that never was open is given up, unless another attempt is likely to succeed:
/// a local port was taken, or sshd was too busy. Sees no process and no clock; SshTunnel's thread
/// owns it and acts.
class TunnelWatch {
 public:
  /// What SshTunnel is to do now.
  enum class Next {
    start_later,       ///< Start ssh again at next_start().
    take_other_ports,  ///< Start it at once, with other local ports.
    give_up            ///< Report the failure to the caller of SshTunnel::open().
  };

  /// ssh has said that the tunnel is open.
  void is_up(Instant now);
  /// ssh has ended.
  /// complaint  what it wrote to stderr.
  Next ended(std::string_view complaint, Instant now);
  /// When to start ssh again; nothing while it runs, or if nothing is to be started.
  std::optional<Instant> next_start() const { return next_start_; }
  /// ssh is being started now.
  void started() { next_start_.reset(); }
  /// Whether the tunnel was open at some time.
  bool was_up() const { return was_up_; }

 private:
  /// How long to wait before another start, how long a tunnel must have been open for the pauses to
  /// begin anew, and how often to try before it was open for the first time.
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
