#include "controller/scheduler/gang_places.hpp"

#include <algorithm>
#include <chrono>

namespace px::controller {

void GangPlaces::placed(const EngineUuid& engine, const WorldPlace& place) {
  left(engine, false);
  const auto world = worlds_.try_emplace(place.world).first;
  int& number = world->second.numbers[place.language];
  if (number == 0) number = ++last_world_;
  ++world->second.count;
  ++world->second.engines_by_rank[place.rank];
  const int host = hosts_.try_emplace(place.host, static_cast<int>(hosts_.size())).first->second;
  members_.insert_or_assign(engine, Member{world, number, place.rank, host});
}

void GangPlaces::left(const EngineUuid& engine, bool breaks_world) {
  const auto found = members_.find(engine);
  if (found == members_.end()) return;
  const auto named = found->second.world;
  World& world = named->second;
  if (--world.engines_by_rank[found->second.rank] == 0)
    world.engines_by_rank.erase(found->second.rank);
  --world.count;
  world.is_broken |= breaks_world;
  members_.erase(found);
  if (world.count == 0) worlds_.erase(named);  // another world may get its name
}

std::optional<GangPlaces::Seat> GangPlaces::find(const EngineUuid& engine) const {
  const auto found = members_.find(engine);
  if (found == members_.end()) return std::nullopt;
  const auto& [world, number, rank, host] = found->second;
  if (!world->second.is_usable()) return std::nullopt;
  return Seat{number, rank, host};
}

std::int64_t GangPlaces::number_of(const std::vector<WorkerKey>& gang, Instant now) {
  std::int64_t& number = numbers_[gang];
  if (number != 0) return number;
  const std::int64_t clock =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  number = last_number_ = std::max(last_number_ + 1, clock);
  return number;
}

void GangPlaces::forget(WorkerKey worker) {
  std::erase_if(numbers_, [worker](const auto& entry) {
    return std::count(entry.first.begin(), entry.first.end(), worker) > 0;
  });
}

}  // namespace px::controller
