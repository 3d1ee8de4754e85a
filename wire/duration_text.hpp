#pragma once

#include <string>

#include "wire/time.hpp"

namespace px {

/// "15 s", "0.25 s": a length of time for a message to a user, in seconds with at most three
/// decimals.
std::string format_duration(Duration time);

/// "12 s", "3 min 20 s", "2 h 5 min": how long something has lasted, rounded.
std::string format_age(Duration age);

}  // namespace px
