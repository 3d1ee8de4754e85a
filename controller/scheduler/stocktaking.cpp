#include "controller/scheduler/stocktaking.hpp"

#include <utility>

namespace px::controller {

void Stocktaking::reported(const EngineUuid& engine, const std::vector<std::string>& msg_ids) {
  for (const std::string& msg_id : msg_ids) holders_.insert_or_assign(msg_id, engine);
  reported_.insert(engine);
  settle(engine);
}

void Stocktaking::joined(const EngineUuid& engine) {
  if (awaited_.empty()) return;
  joined_.insert(engine);
  settle(engine);
}

void Stocktaking::left(const EngineUuid& engine) {
  awaited_.erase(engine);
  std::erase_if(holders_, [&](const auto& entry) { return entry.second == engine; });
}

void Stocktaking::settle(const EngineUuid& engine) {
  if (reported_.contains(engine) && joined_.contains(engine)) awaited_.erase(engine);
}

std::optional<Instant> Stocktaking::deadline() const {
  return awaited_.empty() ? std::nullopt : std::optional(until_);
}

EngineUuid Stocktaking::take_holder(std::string_view msg_id) {
  const auto found = holders_.find(msg_id);
  if (found == holders_.end()) return {};
  EngineUuid holder = std::move(found->second);
  holders_.erase(found);
  return holder;
}

}  // namespace px::controller
