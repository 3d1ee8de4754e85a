#pragma once

#include <optional>
#include <vector>

#include "wire/time.hpp"

namespace px::cluster {

/// Decides when a controller that has ended is restarted. Uses no process and no clock.
///
/// A controller that has served and ends has crashed: it is restarted at once after the first
/// crash, and after growing pauses after further ones within 10 minutes; the sixth ends the
/// cluster. One that ends before it serves has failed to start, e.g. because its port is in use or
/// the disk is full: that is not a crash. It is started again after growing pauses, for 150 s:
/// engines wait 175 s for a controller.
class ControllerRestarts {
 public:
  static constexpr std::size_t most_crashes = 5;
  static constexpr Duration time_of_crashes = std::chrono::minutes(10);
  static constexpr Duration patience = std::chrono::seconds(150);

  /// Clients and engines can reach it.
  void serves() { is_serving_ = true; }
  bool is_serving() const { return is_serving_; }
  /// It has ended, or could not be started. Returns when to start it; nothing: it is given up.
  std::optional<Instant> ended(Instant now);

 private:
  bool is_serving_ = false;
  std::vector<Instant> crashes_;  // the latest ones
  std::size_t failed_starts_ = 0;
  Instant absent_since_{};
};

}  // namespace px::cluster
