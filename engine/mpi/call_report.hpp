#pragma once

#include <optional>

#include "engine/mpi/call_place.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// What a usage_reply tells of a call: {"call": "MPI_Barrier", "seconds": 42.0, ...}; null for none
/// (docs/protocol.md).
Json describe(const std::optional<MpiCall>& call, Instant now);

}  // namespace px::engine
