#pragma once

#include "controller/sight/sight.hpp"

namespace px::controller {

/// The description of this process for a Sight; its start is now.
SightOptions own_process();

}  // namespace px::controller
