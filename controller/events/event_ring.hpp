#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The latest events of the cluster, for clients that ask and for snapshots. The hub owns it, on
/// its thread.
class EventRing {
 public:
  static constexpr std::size_t most_events = 1000;

  void add(Json event) {
    if (events_.size() == most_events) events_.pop_front();
    events_.push_back(std::move(event));
    ++count_;
  }
  /// Oldest first.
  const std::deque<Json>& events() const { return events_; }
  /// The number of events added so far, which is the number of the latest.
  std::uint64_t count() const { return count_; }
  /// A list, oldest first, without events before `since`.
  Json list(std::optional<WallTime> since) const {
    Json list = Json::array();
    for (const Json& event : events_)
      if (!since || is_since(event, *since)) list.push_back(event);
    return list;
  }

 private:
  static bool is_since(const Json& event, WallTime since) {
    const auto time = parse_date(string_member(event, "time").value_or(""));
    return time && *time >= since;
  }

  std::deque<Json> events_;
  std::uint64_t count_ = 0;
};

}  // namespace px::controller
