#pragma once

#include "wire/json.hpp"

namespace px::os {

/// What this process uses of its host: the content of usage_reply.
Json process_usage();

}  // namespace px::os
