#include "cluster/records/engine_place.hpp"

#include <charconv>

namespace px::cluster {

PlacedEngine read_place(EngineId id, std::string_view place) {
  PlacedEngine engine{id, std::string(place), std::nullopt};
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) return engine;
  engine.set = std::string(place.substr(0, slash));
  const std::string_view text = place.substr(slash + 1);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size() && number >= 0)
    engine.number = number;
  return engine;
}

}  // namespace px::cluster
