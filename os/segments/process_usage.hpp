#pragma once

#include "wire/json.hpp"

namespace px::os {

/// What this process uses of its host: the content of usage_reply, with the `shared_memory` of
/// docs/protocol.md.
Json process_usage();

}  // namespace px::os
