#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "wire/time.hpp"

namespace px::os {

/// The timeout for poll(2) to wait until `deadline`, at most an hour: rounded up, so that the
/// deadline has passed when the wait ends.
inline int poll_timeout_ms(Instant deadline) {
  constexpr long most = 3600L * 1000;
  const long left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp(left, 0L, most));
}

/// Like the function above; without a deadline, for ever.
inline int poll_timeout_ms(std::optional<Instant> deadline) {
  return deadline ? poll_timeout_ms(*deadline) : -1;
}

}  // namespace px::os
