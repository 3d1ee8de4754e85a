#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cluster/records/placed_engine.hpp"

namespace px::cluster {

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
