#pragma once

#include <algorithm>
#include <optional>

#include "wire/time.hpp"

namespace px {

/// The earlier of two deadlines; nothing counts as never.
inline std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace px
