#include "jupyter/span_log.hpp"

#include <utility>

namespace px::jupyter {

void SpanLog::add(TraceSpan span) {
  const std::lock_guard lock{mutex_};
  if (spans_.size() < most)
    spans_.push_back(std::move(span));
  else
    ++dropped_;
}

void SpanLog::start() {
  {
    const std::lock_guard lock{mutex_};
    spans_.clear();
    dropped_ = 0;
  }
  is_on_.store(true, std::memory_order_relaxed);
}

std::vector<TraceSpan> SpanLog::take(std::size_t limit) {
  const std::lock_guard lock{mutex_};
  std::vector<TraceSpan> found;
  while (!spans_.empty() && found.size() < limit) {
    found.push_back(std::move(spans_.front()));
    spans_.pop_front();
  }
  return found;
}

std::uint64_t SpanLog::dropped() const {
  const std::lock_guard lock{mutex_};
  return dropped_;
}

}  // namespace px::jupyter
