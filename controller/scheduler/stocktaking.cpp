#include "controller/scheduler/stocktaking.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace px::controller {

void Stocktaking::reported(const EngineUuid& engine, const HeldTasks& held) {
  if (!reported_.insert(engine).second) forget(engine);
  const std::unordered_set<std::string_view> unanswered{held.unanswered.begin(),
                                                        held.unanswered.end()};
  for (const std::string& msg_id : held.msg_ids)
    holders_.emplace(msg_id, Holder{engine, !unanswered.contains(msg_id)});
  settle(engine);
}

void Stocktaking::joined(const EngineUuid& engine) {
  if (awaited_.empty()) return;
  joined_.insert(engine);
  settle(engine);
}

void Stocktaking::left(const EngineUuid& engine) {
  awaited_.erase(engine);
  reported_.erase(engine);
  forget(engine);
}

void Stocktaking::forget(const EngineUuid& engine) {
  std::erase_if(holders_, [&](const auto& entry) { return entry.second.engine == engine; });
}

void Stocktaking::settle(const EngineUuid& engine) {
  if (reported_.contains(engine) && joined_.contains(engine)) awaited_.erase(engine);
}

std::vector<EngineUuid> Stocktaking::holders_of(std::string_view msg_id) const {
  std::vector<EngineUuid> engines;
  const auto [first, end] = holders_.equal_range(msg_id);
  for (auto holder = first; holder != end; ++holder) engines.push_back(holder->second.engine);
  return engines;
}

std::optional<Instant> Stocktaking::deadline() const {
  return awaited_.empty() ? std::nullopt : std::optional(until_);
}

EngineUuid Stocktaking::take_holder(std::string_view msg_id, const EngineUuid& latest) {
  const auto [first, end] = holders_.equal_range(msg_id);
  const auto rank = [&](const Holder& holder) {
    return std::pair(!holder.has_answered, holder.engine == latest);
  };
  const auto holder = std::max_element(
      first, end, [&](const auto& a, const auto& b) { return rank(a.second) < rank(b.second); });
  EngineUuid engine;
  if (holder != end) engine = std::move(holder->second.engine);
  holders_.erase(first, end);
  return engine;
}

}  // namespace px::controller
