#pragma once

#include <map>
#include <vector>

#include "client/engine_place.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The rows of engines in the `measures` of a measures_reply; they live as long as `measures`.
std::map<EngineId, const Json*> measured_engines(const Json& measures);

/// What the engine of such a row would have answered to a usage_request when it was measured, as
/// far as it is known: the content of a usage_reply. Of a request that began since then only its
/// age is known. Empty: the engine is silent. Pure.
Json measured_usage(const Json& row);

/// Where the engines are, by that: their lines have a text, but no number and no file.
std::vector<EnginePlace> measured_places(const Json& measures);

}  // namespace px::client
