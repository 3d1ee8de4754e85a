#pragma once

#include <map>
#include <vector>

#include "client/engine_place.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::client {

/// Returns the engines' rows in the `measures` of a measures_reply (docs/protocol.md). The pointers
/// are valid as long as `measures` exists.
std::map<EngineId, const Json*> measured_engines(const Json& measures);

/// Converts an engine's row to the content of a usage_reply of this engine. Members that the row
/// does not have are left out. If the engine began its current request after the measurement,
/// `running` has only `seconds`, and `place` is empty. The result is empty if the engine does not
/// answer the controller. Pure.
Json measured_usage(const Json& row);

/// Returns the state and the line of code of each engine, according to the measurements. Each
/// EnginePlace in the result has the text of the line, but no line number and no file.
std::vector<EnginePlace> measured_places(const Json& measures);

}  // namespace px::client
