#pragma once

#include <px/wire/json.hpp>

namespace px {

/// What this process uses of its host: the content of usage_reply.
Json process_usage();

}  // namespace px
