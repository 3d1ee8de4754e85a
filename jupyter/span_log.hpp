#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::jupyter {

/// Something that has ended, for a trace.
struct TraceSpan {
  std::string kind;  ///< "request", "reply", "span", "torch" ...
  std::string name;
  Instant began{};
  Instant ended{};
  std::uint64_t thread = 0;       ///< 0 = the main thread.
  Json details = Json::object();  ///< What else is known, for a person.
};

/// What this process has done since a trace was started. Bounded: when it is full further spans are
/// counted and dropped, so that the beginning of a trace is whole. Any thread may call it; while no
/// trace is on begin() is a look at one atomic, and nothing else is called.
class SpanLog {
 public:
  static constexpr std::size_t most = 100'000;

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  /// The time, as the beginning of a span, if a trace is on.
  std::optional<Instant> begin() const {
    return is_on() ? std::optional(Clock::now()) : std::nullopt;
  }
  void add(TraceSpan span);

  /// Forgets what an earlier trace has left.
  void start();
  /// What has begun is still added.
  void stop() noexcept { is_on_.store(false, std::memory_order_relaxed); }
  /// Up to `limit` that were added, in that order, each once.
  std::vector<TraceSpan> take(std::size_t limit);
  /// Those that found no room since start().
  std::uint64_t dropped() const;

 private:
  std::atomic<bool> is_on_ = false;
  mutable std::mutex mutex_;  // of what follows
  std::deque<TraceSpan> spans_;
  std::uint64_t dropped_ = 0;
};

}  // namespace px::jupyter
