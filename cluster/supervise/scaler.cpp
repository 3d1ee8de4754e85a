#include "cluster/supervise/scaler.hpp"

#include <algorithm>

namespace px::cluster {
namespace {

constexpr Duration shortest_scale_pause = std::chrono::seconds(1);
constexpr Duration longest_scale_pause = std::chrono::minutes(1);
/// A death so long after the previous pause is not one of a series.
constexpr Duration quiet_time = std::chrono::minutes(5);

bool has_work(const EngineLoad& engine) {
  return engine.tasks + engine.direct > 0;
}

}  // namespace

void Scaler::died(Instant now) {
  const bool is_series = pause_ > Duration::zero() && now - pause_since_ < quiet_time;
  pause_ = is_series ? std::min<Duration>(2 * pause_, longest_scale_pause) : shortest_scale_pause;
  pause_since_ = now;
}

/// Since when each engine has been idle.
void Scaler::look(const ClusterLoad& load, Instant now) {
  std::map<EngineUuid, Rest> rests;
  for (const EngineLoad& engine : load.engines) {
    const auto known = rests_.find(engine.uuid);
    const bool is_same = known != rests_.end() && known->second.completed == engine.completed &&
                         known->second.is_idle;
    const bool is_idle = !has_work(engine);
    rests[engine.uuid] = {engine.completed, is_same && is_idle ? known->second.since : now,
                          is_idle};
  }
  rests_ = std::move(rests);
}

Scaler::UnitRest Scaler::rest_of(const ScaleUnit& unit, const ClusterLoad& load) const {
  UnitRest rest;
  for (const EngineLoad& engine : load.engines) {
    if (engine.number < unit.first || engine.number >= unit.first + unit.count) continue;
    const Rest& own = rests_.at(engine.uuid);
    ++rest.registered;
    rest.is_idle = rest.is_idle && own.is_idle;
    rest.since = std::max(rest.since, own.since);
  }
  return rest;
}

ScaleSteps Scaler::decide(const ClusterLoad& load, const std::vector<ScaleUnit>& units,
                          Instant now) {
  ScaleSteps steps;
  if (!wish_) return steps;
  look(load, now);
  std::erase_if(draining_, [&](const auto& drained) {
    return units.at(drained.first).state != UnitState::running;
  });

  long long capacity = 0;
  for (std::size_t i = 0; i < units.size(); ++i)
    if (units[i].state == UnitState::running && !draining_.contains(i)) capacity += units[i].count;
  const auto resume = [&](std::size_t i) {
    steps.resume.push_back(i);
    draining_.erase(i);
    capacity += units[i].count;
  };
  const auto drained = std::map(draining_);
  for (const auto& [i, since] : drained) {
    const UnitRest rest = rest_of(units[i], load);
    if (rest.registered < units[i].count || !rest.is_idle || rest.since > since) resume(i);
  }

  const auto busy = std::count_if(load.engines.begin(), load.engines.end(), has_work);
  const long long wanted =
      busy + static_cast<long long>(std::min<std::size_t>(load.waiting, 1 << 20));
  const long long needed = std::clamp<long long>(wanted, wish_->least, wish_->most);
  for (const auto& [i, since] : drained)
    if (capacity < needed && draining_.contains(i)) resume(i);
  const bool is_short = capacity < needed;
  const bool is_urgent = capacity == 0 || capacity < wish_->least || was_short_;
  if (is_short && is_urgent && now >= pause_since_ + pause_)
    for (std::size_t i = 0; i < units.size() && capacity < needed; ++i) {
      if (units[i].state != UnitState::absent || capacity + units[i].count > wish_->most) continue;
      steps.start.push_back(i);
      capacity += units[i].count;
    }
  was_short_ = is_short;

  for (const auto& [i, since] : draining_) steps.end.push_back(i);
  draining_.clear();
  for (std::size_t i = units.size(); i-- > 0 && !is_short;) {
    if (units[i].state != UnitState::running || capacity - units[i].count < needed) continue;
    if (std::count(steps.end.begin(), steps.end.end(), i) > 0) continue;
    const UnitRest rest = rest_of(units[i], load);
    if (rest.registered < units[i].count || !rest.is_idle || now - rest.since < wish_->idle)
      continue;
    steps.drain.push_back(i);
    draining_.emplace(i, now);
    capacity -= units[i].count;
  }
  return steps;
}

}  // namespace px::cluster
