#include "controller/scheduler/stocktaking.hpp"

#include <utility>

namespace px::controller {

void Stocktaking::reported(const EngineUuid& engine, const std::vector<std::string>& msg_ids) {
  if (!reported_.insert(engine).second) forget(engine);
  for (const std::string& msg_id : msg_ids) holders_.emplace(msg_id, engine);
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
  std::erase_if(holders_, [&](const auto& entry) { return entry.second == engine; });
}

void Stocktaking::settle(const EngineUuid& engine) {
  if (reported_.contains(engine) && joined_.contains(engine)) awaited_.erase(engine);
}

std::optional<Instant> Stocktaking::deadline() const {
  return awaited_.empty() ? std::nullopt : std::optional(until_);
}

EngineUuid Stocktaking::take_holder(std::string_view msg_id, const EngineUuid& latest) {
  const auto [first, end] = holders_.equal_range(msg_id);
  EngineUuid holder;
  for (auto entry = first; entry != end; ++entry)
    if (holder != latest || holder.empty()) holder = entry->second;
  holders_.erase(first, end);
  return holder;
}

}  // namespace px::controller
