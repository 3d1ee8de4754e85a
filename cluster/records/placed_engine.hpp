#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace px::cluster
