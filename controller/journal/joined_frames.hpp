#pragma once

#include <vector>

#include "wire/frames.hpp"

namespace px::controller {

/// Several messages as one, without a copy of their frames: each is preceded by its number of
/// frames. In this form a record of the journal contains a call's reply and its output.
SharedFrames joined(std::vector<SharedFrames> messages);

/// The messages of joined(), in their order. Empty if the argument is not of this form.
std::vector<SharedFrames> split(const SharedFrames& joined);

}  // namespace px::controller
