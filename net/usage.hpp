#pragma once

#include "wire/json.hpp"

namespace px::net {

/// What this process uses of its host: the content of usage_reply.
Json process_usage();

}  // namespace px::net
