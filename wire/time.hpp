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
/// A date that people and other hosts read: UTC, in whole microseconds, as in messages. It may jump
/// when the clock is set, so code never waits until such a time.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// The current time of the wall clock. Classes that decide take the time as an argument; only the
/// code that owns a loop calls this function.
WallTime wall_now();

/// The date in the format of Jupyter's headers: `2026-11-21T08:05:09.467893Z`. If the fraction is
/// zero, it is omitted (protocol 3.5).
std::string format_date(WallTime time);

/// Reads `YYYY-MM-DDTHH:MM:SS[.f{1,6}][Z|+HH:MM|+HHMM]`; a date without a time zone is UTC. There
/// is no value if `text` is not such a date.
std::optional<WallTime> parse_date(std::string_view text);

/// The earlier of two deadlines; a deadline without a value means never. For loops that ask several
/// objects for their next_deadline() and sleep until the earliest one.
inline std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

/// A Duration of this many seconds. The number must be finite and fit into a Duration.
inline Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// A length of time for a message to a user, in seconds with at most three decimals and without
/// trailing zeros: "15 s", "0.25 s". For timeouts and limits given by the user.
std::string format_duration(Duration time);

/// The age of something as text, rounded to seconds, or from one hour on to minutes: "12 s", "3 min
/// 20 s", "2 h 5 min". A negative age is "0 s".
std::string format_age(Duration age);

}  // namespace px
