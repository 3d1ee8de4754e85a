#pragma once

#include <algorithm>
#include <chrono>

#include "wire/time.hpp"

namespace px::os {

/// What poll(2) takes to wait until `deadline`, at most an hour: rounded up, so that the deadline
/// has passed when the wait ends.
inline int poll_timeout_ms(Instant deadline) {
  constexpr long most = 3600L * 1000;
  const long left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp(left, 0L, most));
}

}  // namespace px::os
