#pragma once

#include "controller/sight/sight.hpp"

namespace px::controller {

/// This process as a Sight is to describe it; it started now.
SightOptions own_process();

}  // namespace px::controller
