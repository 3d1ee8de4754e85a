#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "client/engine_place.hpp"
#include "wire/ids.hpp"

namespace px::magics {

/// The requests of a cell, by the engine that is to run each.
using CellRequests = std::map<EngineId, MessageId>;

/// Engines that have not begun with a cell, as they run something else: what, and for how long.
struct OtherWork {
  /// "engines 0 and 1 run code of another client for 5 s (import time)"
  std::vector<std::string> sentences;
  std::set<EngineId> engines;  ///< Those in the sentences.
};

/// What keeps the engines of `unfinished` from beginning with it, by their answers where they are.
OtherWork find_other_work(const std::vector<client::EnginePlace>& places,
                          const CellRequests& unfinished);

}  // namespace px::magics
