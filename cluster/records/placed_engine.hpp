#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ids.hpp"

namespace px::cluster {

/// A registered engine that reports which program has started it.
struct PlacedEngine {
  EngineId id;
  std::string set;            ///< The id of its engine set.
  std::optional<int> number;  ///< Its number in the set: under MPI the rank.
  EngineUuid uuid = {};       ///< Empty: not asked for.
  bool operator==(const PlacedEngine&) const = default;
};

/// From the engine's fact "1792048000/2" or "1792048000/" (EngineFacts::set_member).
PlacedEngine read_placed_engine(EngineId id, std::string_view place);

/// The engines of a cluster that are to be restarted. A value.
struct RestartChoice {
  std::string engine_set = {};             ///< The id of the only set; empty: all sets.
  std::vector<PlacedEngine> engines = {};  ///< Only these; empty: all of the set or sets.

  bool includes(const PlacedEngine& engine) const {
    if (!engines.empty())
      return std::any_of(engines.begin(), engines.end(),
                         [&](const PlacedEngine& each) { return each.id == engine.id; });
    return engine_set.empty() || engine.set == engine_set;
  }
};

}  // namespace px::cluster
