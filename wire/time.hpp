#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace px {

using Clock = std::chrono::steady_clock;  ///< For timeouts and measured times.
using Instant = Clock::time_point;        ///< Deadlines and ages; never jumps.
using Duration = Clock::duration;         ///< Lengths of time.
/// A date that people and other hosts read: UTC, in whole microseconds, as on the wire. It may jump
/// when the clock is set, so code never waits for it.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// The current time of the wall clock. Classes that decide take the time as an argument; only the
/// code that owns a loop calls this function.
WallTime wall_now();

/// The date in the form of Jupyter's headers: `2026-11-21T08:05:09.467893Z`; the fraction is
/// omitted if it is zero (protocol 3.5).
std::string format_date(WallTime time);

/// Reads `YYYY-MM-DDTHH:MM:SS[.f{1,6}][Z|+HH:MM|+HHMM]`; a date without a zone is UTC. Nothing if
/// `text` is not such a date.
std::optional<WallTime> parse_date(std::string_view text);

/// The earlier of two deadlines, of which "nothing" means never. For loops that ask several objects
/// for their next_deadline() and sleep until the earliest.
inline std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// This many seconds, which must be finite and fit into a Duration.
inline Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// A length of time for a message to a user, in seconds with at most three decimals and without
/// trailing zeros: "15 s", "0.25 s". For timeouts and limits given by the user.
std::string format_duration(Duration time);

/// How long something has lasted, rounded to seconds, and from one hour on to minutes: "12 s", "3
/// min 20 s", "2 h 5 min". A negative age is "0 s".
std::string format_age(Duration age);

}  // namespace px
