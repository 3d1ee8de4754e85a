#include "cluster/records/placed_engine.hpp"

#include "wire/text.hpp"

namespace px::cluster {

PlacedEngine read_placed_engine(EngineId id, std::string_view place) {
  PlacedEngine engine{id, std::string(place), std::nullopt, {}};
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) return engine;
  engine.set = std::string(place.substr(0, slash));
  if (const auto number = read_whole_number(place.substr(slash + 1)); number && *number >= 0)
    engine.number = number;
  return engine;
}

}  // namespace px::cluster
