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

/// A span that has ended, for a trace.
struct TraceSpan {
  std::string kind;  ///< "request", "reply", "span", "torch" ...
  std::string name;
  Instant began{};
  Instant ended{};
  std::uint64_t thread = 0;       ///< 0: the main thread.
  Json details = Json::object();  ///< Further information, for people.
};

/// The spans of this process since a trace was started. Bounded: when it is full further spans are
/// counted and dropped, so that the beginning of a trace is complete. Any thread may call it; while
/// no trace is on, begin() only reads one atomic, and no other function is called.
class SpanLog {
 public:
  static constexpr std::size_t most = 100'000;

  bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  /// The time, as the beginning of a span, if a trace is on.
  std::optional<Instant> begin() const {
    return is_on() ? std::optional(Clock::now()) : std::nullopt;
  }
  void add(TraceSpan span);

  /// Forgets the spans of an earlier trace.
  void start();
  /// Spans that have begun are still added.
  void stop() noexcept { is_on_.store(false, std::memory_order_relaxed); }
  /// Up to `limit` spans, in the order in which they were added, each once.
  std::vector<TraceSpan> take(std::size_t limit);
  /// The number of spans that did not fit since start().
  std::uint64_t dropped() const;

 private:
  std::atomic<bool> is_on_ = false;
  mutable std::mutex mutex_;  // guards the following members
  std::deque<TraceSpan> spans_;
  std::uint64_t dropped_ = 0;
};

}  // namespace px::jupyter
