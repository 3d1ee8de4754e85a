#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// A line of the controller's event log, which is a JSON object
/// (controller/events/event_maker.hpp).
struct EventLine {
  WallTime time;
  std::string json;  ///< The line itself.
  std::string text;  ///< For people: "2026-11-27 10:48:25Z  died        engine 3 (node1): ...".
};

/// Reads a line; nothing if it is malformed, or cut because it is still being written.
std::optional<EventLine> read_event_line(std::string_view line);

/// The events in texts of the log that are not before `since`, in their order; at most this many,
/// the last ones.
std::vector<EventLine> choose_events(const std::vector<std::string>& texts,
                                     std::optional<WallTime> since, std::size_t most);

/// The moment that a user gives: an age before `now` ("30s", "10m", "2h", "1d") or a date as
/// parse_date() reads it.  errors  bad_input: neither.
Result<WallTime> read_since(const std::string& text, WallTime now);

}  // namespace px::cluster
