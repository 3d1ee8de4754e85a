#pragma once

#include <string>

#include "wire/time.hpp"

namespace px {

/// "15 s", "0.25 s": a length of time for a message to a user, in seconds with at most three
/// decimals.
std::string format_duration(Duration time);

}  // namespace px
