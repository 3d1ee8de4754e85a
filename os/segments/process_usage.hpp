#pragma once

#include "wire/json.hpp"

namespace px::os {

/// The resources of its host that this process uses: the content of usage_reply, with the
/// `shared_memory` of docs/protocol.md.
Json process_usage();

}  // namespace px::os
