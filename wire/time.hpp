#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace px {

using Clock = std::chrono::steady_clock;  ///< For timeouts and measured times.
using Instant = Clock::time_point;        ///< Deadlines and ages; never jumps.
using Duration = Clock::duration;         ///< Lengths of time.
/// A date that people and other hosts read: UTC, in whole microseconds, as on the wire. It may jump
/// when the clock is set, so no code waits for it.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// The wall clock's time now. Classes that decide take the time as an argument; only the code that
/// owns a loop calls this.
WallTime wall_now();

/// The date in the form of Jupyter's headers: `2026-11-21T08:05:09.467893Z`; the fraction is left
/// out if it is zero (protocol 3.5).
std::string format_date(WallTime time);

/// Reads `YYYY-MM-DDTHH:MM:SS[.f{1,6}][Z|+HH:MM|+HHMM]`; without a zone it is taken as UTC.
/// Nothing where `text` is not such a date.
std::optional<WallTime> parse_date(std::string_view text);

}  // namespace px
