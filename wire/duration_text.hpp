#pragma once

#include <string>

#include "wire/time.hpp"

namespace px {

/// A length of time for a message to a user, in seconds with at most three decimals and without
/// zeros at the end: "15 s", "0.25 s". For timeouts and limits, which the user has given.
std::string format_duration(Duration time);

/// How long something has lasted, rounded to seconds, and to minutes from one hour on: "12 s", "3
/// min 20 s", "2 h 5 min". A negative age is "0 s".
std::string format_age(Duration age);

}  // namespace px
