#include "controller/scheduler/stocktaking.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "wire/checked_json.hpp"

namespace px::controller {
namespace {

std::optional<HeldGang> read_held_gang(const Json& content) {
  HeldGang gang;
  gang.msg_id = string_member(content, "msg_id").value_or("");
  gang.repetition = integer_member<int>(content, "repetition").value_or(0);
  const Json seats = object_member(content, "gang");
  for (std::string& each : strings_member(seats, "engines").value_or(std::vector<std::string>{}))
    gang.seats.engines.push_back(EngineUuid{std::move(each)});
  gang.seats.communicator.number = int_member(seats, "number").value_or(0);
  for (const Json& rank : json_member(seats, "ranks"))
    if (const auto number = read_integer<int>(rank))
      gang.seats.communicator.ranks.push_back(*number);
  const std::size_t size = gang.seats.engines.size();
  if (gang.msg_id.empty() || size < 2 || size != gang.seats.communicator.ranks.size())
    return std::nullopt;
  return gang;
}

}  // namespace

HeldTasks read_held_tasks(const Json& registration) {
  HeldTasks held;
  held.msg_ids = strings_member(registration, "holds").value_or(std::vector<std::string>{});
  held.unanswered = strings_member(registration, "unanswered").value_or(std::vector<std::string>{});
  for (const Json& each : json_member(registration, "holds_ranks"))
    if (auto gang = each.is_object() ? read_held_gang(each) : std::nullopt)
      held.gangs.push_back(std::move(*gang));
  return held;
}

void Stocktaking::reported(const EngineUuid& engine, const HeldTasks& held) {
  if (!reported_.insert(engine).second) forget(engine);
  if (!held.unanswered.empty()) busy_.insert(engine);
  const std::unordered_set<std::string_view> unanswered{held.unanswered.begin(),
                                                        held.unanswered.end()};
  std::unordered_map<std::string_view, std::shared_ptr<const HeldGang>> gangs;
  for (const HeldGang& gang : held.gangs)
    gangs.emplace(gang.msg_id, std::make_shared<const HeldGang>(gang));
  for (const std::string& msg_id : held.msg_ids) {
    const auto gang = gangs.find(msg_id);
    holders_.emplace(msg_id, Holder{engine, !unanswered.contains(msg_id),
                                    gang == gangs.end() ? nullptr : gang->second});
  }
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
  busy_.erase(engine);
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

std::shared_ptr<const HeldGang> Stocktaking::gang_of(std::string_view msg_id) const {
  const auto [first, end] = holders_.equal_range(msg_id);
  std::shared_ptr<HeldGang> latest;
  for (auto each = first; each != end; ++each) {
    const auto& [engine, has_answered, gang] = each->second;
    if (!gang) continue;
    if (!latest || latest->repetition < gang->repetition) {
      latest = std::make_shared<HeldGang>(*gang);
      latest->holders.clear();
    }
    if (latest->repetition == gang->repetition) latest->holders.push_back(engine);
  }
  if (!latest) return nullptr;
  const std::vector<EngineUuid>& holders = latest->holders;
  for (const EngineUuid& engine : latest->seats.engines)
    if (busy_.contains(engine) &&
        std::find(holders.begin(), holders.end(), engine) == holders.end())
      latest->busy.push_back(engine);
  return latest;
}

std::vector<Stocktaking::HeldRank> Stocktaking::unclaimed_ranks() const {
  std::vector<HeldRank> ranks;
  for (const auto& [msg_id, holder] : holders_)
    if (holder.gang && !holder.has_answered) ranks.push_back({msg_id, holder.engine});
  return ranks;
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
