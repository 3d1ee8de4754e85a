#pragma once

#include <vector>

#include "wire/frames.hpp"

namespace px::controller {

/// Several messages as one, without a copy of what they hold: before each one its number of frames.
SharedFrames joined(std::vector<SharedFrames> messages);

/// The messages of joined(), in their order. Empty: it is none of that kind.
std::vector<SharedFrames> split(const SharedFrames& joined);

}  // namespace px::controller
