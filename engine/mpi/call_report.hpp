#pragma once

#include <optional>

#include "engine/mpi/call_place.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// The description of a call in a usage_reply: {"call": "MPI_Barrier", "seconds": 42.0, ...}; null
/// if there is none (docs/protocol.md).
Json describe(const std::optional<MpiCall>& call, Instant now);

}  // namespace px::engine
