#pragma once

#include <map>
#include <vector>

#include "client/engine_place.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"

namespace px::client {

/// The rows of engines in the `measures` of a measures_reply; the pointers are valid as long as
/// `measures` exists.
std::map<EngineId, const Json*> measured_engines(const Json& measures);

/// Converts such a row to the content of a usage_reply of the engine; members that the row does not
/// have are left out. If the engine began its current request after the measurement, `running` has
/// only `seconds`, and `place` is empty. The result is empty if the engine does not answer the
/// controller. Pure.
Json measured_usage(const Json& row);

/// The places of the engines according to the measurements. A place has the text of its line, but
/// no line number and no file.
std::vector<EnginePlace> measured_places(const Json& measures);

}  // namespace px::client
