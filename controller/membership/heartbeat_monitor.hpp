#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

struct HeartbeatOptions {
  Duration period = std::chrono::milliseconds(3000);
  int max_misses = 10;  ///< An engine that misses more beats in a row is dead.
  /// A new engine is pinged after this time, together with others that register in the meantime;
  /// the time is as much longer again for each 20 watched engines, because all of them answer each
  /// ping.
  Duration first_ping_delay = std::chrono::milliseconds(5);
  /// An engine that misses this number in a row is silent: it may return, but should get no work
  /// until then.
  int silent_misses = 2;
};

/// Decides when to ping and, from their pongs, which engines are alive (protocol 4.5). One ping, a
/// publication, is sent to all engines in each period; an engine that has not answered before the
/// next one has missed a beat. Pongs of unwatched engines are ignored. A pong that arrives late, as
/// the controller or the network is overloaded, proves that the engine lived after its ping: an
/// engine is dead if it has not answered any of the last pings, not if its answers are late.
/// Membership owns it, sends the pings and acts on the deaths. Uses no socket and no clock.
class HeartbeatMonitor {
 public:
  HeartbeatMonitor(const HeartbeatOptions& options, Instant start);

  /// Watches an engine from now on: it was just heard.
  void watch(const EngineUuid& engine);
  void forget(const EngineUuid& engine);
  /// Whether a pong is in time: the text of the present ping or of the previous one. Records it,
  /// and the text of an earlier ping, too.
  bool heard(std::string_view engine, std::string_view pong);
  /// Whether a watched engine has missed HeartbeatOptions::silent_misses beats or more.
  bool is_silent(std::string_view engine) const;
  /// How long a watched silent engine has not been heard, in whole beats; zero for others.
  Duration silence_of(std::string_view engine) const;
  /// A new engine is connected: a ping is due soon, so that its registration does not take a whole
  /// period.
  void engine_added(Instant now);

  /// The actions of a beat; all three may be empty.
  struct Beat {
    std::optional<std::string> ping;  ///< To be sent now.
    std::vector<EngineUuid> silent;   ///< The engines that became silent with this beat.
    std::vector<EngineUuid> dead;     ///< No longer watched.
  };
  /// What is due at `now`.
  Beat on_time(Instant now);
  Instant next_deadline() const;

 private:
  struct Heart {
    bool is_heard = true;  // since the last beat
    int misses = 0;
  };
  HeartbeatOptions options_;
  Instant start_, next_beat_;
  std::optional<Instant> extra_ping_;
  std::deque<std::string> pings_;  // the latest is the first
  std::unordered_map<EngineUuid, Heart, StringIdHash, StringIdEqual> hearts_;
};

}  // namespace px::controller
