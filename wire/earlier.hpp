#pragma once

#include <algorithm>
#include <optional>

#include "wire/time.hpp"

namespace px {

/// The earlier of two deadlines, of which "nothing" means never: nothing only if both are. For
/// loops that ask several objects for their next_deadline() and sleep until the earliest.
inline std::optional<Instant> earlier(std::optional<Instant> a, std::optional<Instant> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace px
