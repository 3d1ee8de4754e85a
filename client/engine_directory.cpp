#include <px/client/engine_directory.hpp>

#include <algorithm>
#include <utility>

namespace px {

bool EngineDirectory::add(EngineId id, const EngineUuid& uuid,
                          std::optional<std::string> language) {
  known_[uuid] = id;
  if (language && *language != "python") are_all_python_ = false;
  if (language)
    languages_[id] = std::move(*language);
  else
    languages_.erase(id);
  EngineUuid& there = present_[id];
  if (there == uuid) return false;
  there = uuid;
  return true;
}

bool EngineDirectory::remove(const EngineUuid& uuid) {
  const auto known = known_.find(uuid);
  if (known == known_.end()) return false;
  const auto found = present_.find(known->second);
  if (found == present_.end() || found->second != uuid) return false;
  present_.erase(found);
  return true;
}

std::vector<EngineId> EngineDirectory::ids() const {
  std::vector<EngineId> ids;
  ids.reserve(present_.size());
  for (const auto& [id, uuid] : present_) ids.push_back(id);
  return ids;
}

bool EngineDirectory::has(const EngineUuid& uuid) const {
  const auto known = known_.find(uuid);
  return known != known_.end() && uuid_of(known->second) == uuid;
}

std::optional<EngineUuid> EngineDirectory::uuid_of(EngineId id) const {
  const auto found = present_.find(id);
  if (found == present_.end()) return std::nullopt;
  return found->second;
}

std::optional<std::string> EngineDirectory::language_of(EngineId id) const {
  const auto found = languages_.find(id);
  if (found == languages_.end() || !present_.contains(id)) return std::nullopt;
  return found->second;
}

std::vector<std::string> EngineDirectory::other_languages(const std::vector<EngineId>& ids) const {
  std::vector<std::string> others;
  if (are_all_python_) return others;
  for (const EngineId id : ids) {
    const std::optional<std::string> language = language_of(id);
    if (!language || *language == "python") continue;
    if (std::find(others.begin(), others.end(), *language) == others.end())
      others.push_back(*language);
  }
  return others;
}

std::vector<EngineId> EngineDirectory::engines_of_ipyparallel() const {
  std::vector<EngineId> found;
  if (are_all_python_) return found;
  for (const auto& [id, uuid] : present_)
    if (language_of(id) == "") found.push_back(id);
  return found;
}

std::optional<EngineId> EngineDirectory::id_of(std::string_view uuid) const {
  const auto found = known_.find(uuid);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

}  // namespace px
