#pragma once

#include <vector>

#include "wire/frames.hpp"

namespace px::controller {

/// Several messages as one, without a copy of what they hold: before each one its number of frames.
/// In this form a call's reply and what it printed stand in one record of the journal.
SharedFrames joined(std::vector<SharedFrames> messages);

/// The messages of joined(), in their order. Empty: it is none of that kind.
std::vector<SharedFrames> split(const SharedFrames& joined);

}  // namespace px::controller
