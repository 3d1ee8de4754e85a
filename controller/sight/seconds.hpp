#pragma once

#include "wire/time.hpp"

namespace px::controller {

inline double in_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}
inline double seconds_between(Instant begin, Instant end) {
  return in_seconds(end - begin);
}
/// Since 1970.
inline double unix_seconds(WallTime time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

}  // namespace px::controller
