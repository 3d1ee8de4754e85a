#include "controller/membership/engine_table.hpp"

#include <algorithm>

#include "wire/json.hpp"
#include "wire/text.hpp"

namespace px::controller {
namespace {

std::optional<int> read_id(const std::string& text) {
  const std::optional<int> value = read_whole_number(text);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

bool EngineTable::is_pending(std::string_view uuid) const {
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Pending& entry) { return entry.uuid.text == uuid; });
}

bool EngineTable::is_taken(EngineId id) const {
  return engines_.contains(id) || std::any_of(pending_.begin(), pending_.end(),
                                              [&](const Pending& entry) { return entry.id == id; });
}

std::optional<EngineId> EngineTable::find(std::string_view uuid) const {
  const auto found = id_by_uuid_.find(uuid);
  return found == id_by_uuid_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<EngineUuid> EngineTable::find(EngineId id) const {
  const auto found = engines_.find(id);
  return found == engines_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<EngineId> EngineTable::id_of(const EngineUuid& uuid) const {
  if (const auto id = find(uuid.text)) return id;
  for (const Pending& pending : pending_)
    if (pending.uuid == uuid) return pending.id;
  return std::nullopt;
}

std::string EngineTable::language_of(const EngineUuid& uuid) const {
  const auto found = languages_.find(uuid);
  return found == languages_.end() ? "" : found->second;
}

Result<EngineId> EngineTable::request(const EngineUuid& uuid, std::optional<EngineId> wanted,
                                      Instant now, const std::string& language,
                                      const std::map<EngineId, EngineUuid>& former) {
  if (is_registered(uuid.text) || is_pending(uuid.text))
    return Error{ErrorKind::bad_input, "uuid '" + uuid.text + "' in use"};
  const bool is_granted = wanted && wanted->value >= 0 && !is_taken(*wanted);
  // A restored table may have numbers above the counter.
  while (is_taken(EngineId{next_id_}) || former.contains(EngineId{next_id_})) ++next_id_;
  const EngineId id = is_granted ? *wanted : EngineId{next_id_};
  next_id_ = std::max(next_id_, id.value + 1);
  pending_.push_back({id, uuid, now});
  if (!language.empty()) languages_[uuid] = language;
  return id;
}

std::optional<RegisteredEngine> EngineTable::complete(const EngineUuid& uuid) {
  const auto found = std::find_if(pending_.begin(), pending_.end(),
                                  [&](const Pending& entry) { return entry.uuid == uuid; });
  if (found == pending_.end()) return std::nullopt;
  const RegisteredEngine engine{found->id, found->uuid};
  pending_.erase(found);
  engines_.emplace(engine.id, engine.uuid);
  id_by_uuid_.emplace(engine.uuid, engine.id);
  return engine;
}

std::optional<RegisteredEngine> EngineTable::readmit(const RegisteredEngine& engine,
                                                     const std::string& language) {
  if (is_taken(engine.id) || is_registered(engine.uuid.text) || is_pending(engine.uuid.text))
    return std::nullopt;
  engines_.emplace(engine.id, engine.uuid);
  id_by_uuid_.emplace(engine.uuid, engine.id);
  if (!language.empty()) languages_[engine.uuid] = language;
  return engine;
}

std::optional<RegisteredEngine> EngineTable::remove(EngineId id) {
  std::erase_if(pending_, [&](const Pending& entry) { return entry.id == id; });
  const auto found = engines_.find(id);
  if (found == engines_.end()) return std::nullopt;
  const RegisteredEngine engine{found->first, found->second};
  id_by_uuid_.erase(engine.uuid);
  languages_.erase(engine.uuid);
  engines_.erase(found);
  return engine;
}

std::optional<RegisteredEngine> EngineTable::remove(const EngineUuid& uuid) {
  if (std::erase_if(pending_, [&](const Pending& entry) { return entry.uuid == uuid; }) > 0)
    languages_.erase(uuid);
  const auto id = find(uuid.text);
  return id ? remove(*id) : std::nullopt;
}

std::vector<RegisteredEngine> EngineTable::expire(Instant now, const IsAlive& is_alive) {
  std::vector<RegisteredEngine> expired;
  while (!pending_.empty() && pending_.front().since + patience_ <= now) {
    Pending pending = std::move(pending_.front());
    pending_.erase(pending_.begin());
    if (is_alive && is_alive(pending.uuid)) {
      pending.since = now;
      pending_.push_back(std::move(pending));
      continue;
    }
    languages_.erase(pending.uuid);
    expired.push_back({pending.id, std::move(pending.uuid)});
  }
  return expired;
}

std::optional<Instant> EngineTable::next_deadline() const {
  if (pending_.empty()) return std::nullopt;
  return pending_.front().since + patience_;
}

std::string EngineTable::write(const EngineTable& former) const {
  Json table{{"engines", Json::object()}, {"next_id", std::max(next_id_, former.next_id_)}};
  const auto add = [&table](EngineId id, const EngineUuid& uuid, const std::string& language) {
    const std::string key = std::to_string(id.value);
    table["engines"][key] = uuid.text;
    if (!language.empty()) table["languages"][key] = language;
  };
  for (const auto& [id, uuid] : engines_) add(id, uuid, language_of(uuid));
  for (const auto& [id, uuid] : former.engines_)
    if (!engines_.contains(id) && !id_by_uuid_.contains(uuid))
      add(id, uuid, former.language_of(uuid));
  return pack(Packer::json, table);
}

Result<std::vector<RegisteredEngine>> EngineTable::restore(std::string_view text) {
  const Error malformed{ErrorKind::bad_input, "the engine table to restore is malformed"};
  const Result<Json> object = unpack(Packer::json, text);
  if (!object) return malformed;
  const auto engines = object->find("engines");
  const auto next_id = int_member(*object, "next_id");
  if (engines == object->end() || !engines->is_object() || !next_id) return malformed;
  std::vector<RegisteredEngine> restored;
  for (const auto& [key, value] : engines->items()) {
    const auto id = read_id(key);
    if (!id || !value.is_string() || value.get_ref<const std::string&>().empty()) return malformed;
    restored.push_back({EngineId{*id}, EngineUuid{value.get_ref<const std::string&>()}});
  }
  std::sort(restored.begin(), restored.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const RegisteredEngine& engine : restored) {
    engines_.emplace(engine.id, engine.uuid);
    id_by_uuid_.emplace(engine.uuid, engine.id);
  }
  if (const auto languages = object->find("languages"); languages != object->end())
    for (const RegisteredEngine& engine : restored)
      if (const auto name = string_member(*languages, std::to_string(engine.id.value)))
        languages_[engine.uuid] = *name;
  next_id_ = static_cast<int>(std::clamp<long long>(*next_id, 0, 1 << 30));
  return restored;
}

}  // namespace px::controller
