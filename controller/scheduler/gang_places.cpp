#include "controller/scheduler/gang_places.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>

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

const GangCommunicator& GangPlaces::communicator_of(const std::vector<WorkerKey>& gang,
                                                    const std::vector<int>& ranks, Instant now) {
  const auto [found, is_new] = communicators_.try_emplace(gang);
  found->second.use = ++uses_;
  GangCommunicator& made = found->second.communicator;
  if (!is_new) return made;
  const std::int64_t clock =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  made = {last_number_ = std::max(last_number_ + 1, clock), ranks};
  for (const WorkerKey worker : gang)
    if (++counts_[worker] > most_communicators_) drop_oldest_of(worker);
  return made;
}

GangPlaces::AllUsed::iterator GangPlaces::erase(AllUsed::iterator used) {
  for (const WorkerKey worker : used->first)
    if (const auto count = counts_.find(worker); --count->second == 0) counts_.erase(count);
  return communicators_.erase(used);
}

void GangPlaces::drop_oldest_of(WorkerKey worker) {
  auto oldest = communicators_.end();
  for (auto each = communicators_.begin(); each != communicators_.end(); ++each)
    if (std::count(each->first.begin(), each->first.end(), worker) > 0 &&
        (oldest == communicators_.end() || each->second.use < oldest->second.use))
      oldest = each;
  for (const WorkerKey member : oldest->first)
    unneeded_[member].push_back(oldest->second.communicator);
  erase(oldest);
}

std::vector<GangCommunicator> GangPlaces::take_unneeded(const std::vector<WorkerKey>& gang) {
  std::vector<GangCommunicator> all;
  for (const WorkerKey worker : gang) {
    const auto found = unneeded_.find(worker);
    if (found == unneeded_.end()) continue;
    for (GangCommunicator& each : found->second)
      if (std::count(all.begin(), all.end(), each) == 0) all.push_back(std::move(each));
    unneeded_.erase(found);
  }
  return all;
}

void GangPlaces::forget(WorkerKey worker) {
  for (auto each = communicators_.begin(); each != communicators_.end();) {
    const auto& gang = each->first;
    each = std::count(gang.begin(), gang.end(), worker) > 0 ? erase(each) : std::next(each);
  }
}

}  // namespace px::controller
