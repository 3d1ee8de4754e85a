#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace px {

using Clock = std::chrono::steady_clock;  ///< For all that waits.
using Instant = Clock::time_point;        ///< For deadlines and ages: never jumps.
using Duration = Clock::duration;         ///< Spans of that clock's time.
/// For dates that people and other hosts read: UTC, in whole microseconds, as on the wire.
using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

/// The wall clock now. Decisions take it as an argument; only servers call this.
WallTime wall_now();

/// `2026-11-21T08:05:09.467893Z`; the fraction is left out where it is zero (protocol 3.5).
std::string format_date(WallTime time);

/// Reads `YYYY-MM-DDTHH:MM:SS[.f{1,6}][Z|+HH:MM|+HHMM]`; without a zone it is taken as UTC.
/// Nothing where `text` is not such a date.
std::optional<WallTime> parse_date(std::string_view text);

}  // namespace px
