#include "client/requests/engine_directory.hpp"

#include <algorithm>
#include <utility>

#include "wire/text.hpp"

namespace px::client {
namespace {

/// In an ascending list.
void insert(std::vector<EngineId>& ids, EngineId id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (place == ids.end() || *place != id) ids.insert(place, id);
}

/// Of "GROUP/RANK".
std::optional<EngineDirectory::Passing> read_passing(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == 0 || slash == std::string_view::npos) return std::nullopt;
  const auto rank = read_whole_number(text.substr(slash + 1));
  if (!rank || *rank < 0) return std::nullopt;
  return EngineDirectory::Passing{std::string(text.substr(0, slash)), Rank{*rank}};
}

void erase(std::vector<EngineId>& ids, EngineId id) {
  const auto place = std::lower_bound(ids.begin(), ids.end(), id);
  if (place != ids.end() && *place == id) ids.erase(place);
}

}  // namespace

bool EngineDirectory::add(EngineId id, const EngineUuid& uuid, std::optional<std::string> language,
                          std::string memory, std::string_view passing) {
  known_[uuid] = id;
  Present& there = present_[id];
  const bool is_new = there.uuid != uuid;
  forget_language(id, there);
  if (language && *language != "python") ++other_languages_[*language];
  if (language == "") insert(of_ipyparallel_, id);
  there = {uuid, std::move(language), std::move(memory), read_passing(passing)};
  insert(ids_, id);
  return is_new;
}

bool EngineDirectory::remove(const EngineUuid& uuid) {
  const auto known = known_.find(uuid);
  if (known == known_.end()) return false;
  const auto found = present_.find(known->second);
  if (found == present_.end() || found->second.uuid != uuid) return false;
  forget_language(found->first, found->second);
  erase(ids_, found->first);
  present_.erase(found);
  return true;
}

void EngineDirectory::forget_language(EngineId id, const Present& engine) {
  if (!engine.language) return;
  const auto spoken = other_languages_.find(*engine.language);
  if (spoken != other_languages_.end() && --spoken->second == 0) other_languages_.erase(spoken);
  if (engine.language->empty()) erase(of_ipyparallel_, id);
}

bool EngineDirectory::has(const EngineUuid& uuid) const {
  const auto known = known_.find(uuid);
  return known != known_.end() && uuid_of(known->second) == uuid;
}

std::optional<EngineUuid> EngineDirectory::uuid_of(EngineId id) const {
  const auto found = present_.find(id);
  if (found == present_.end()) return std::nullopt;
  return found->second.uuid;
}

std::optional<std::string> EngineDirectory::language_of(EngineId id) const {
  const auto found = present_.find(id);
  if (found == present_.end()) return std::nullopt;
  return found->second.language;
}

std::string EngineDirectory::memory_of(EngineId id) const {
  const auto found = present_.find(id);
  return found == present_.end() ? std::string() : found->second.memory;
}

std::optional<EngineDirectory::Passing> EngineDirectory::passing_of(EngineId id) const {
  const auto found = present_.find(id);
  return found == present_.end() ? std::nullopt : found->second.passing;
}

std::vector<std::string> EngineDirectory::other_languages(const std::vector<EngineId>& ids) const {
  std::vector<std::string> others;
  if (other_languages_.empty()) return others;
  for (const EngineId id : ids) {
    const std::optional<std::string> language = language_of(id);
    if (!language || *language == "python") continue;
    if (std::find(others.begin(), others.end(), *language) == others.end())
      others.push_back(*language);
  }
  return others;
}

std::vector<std::string> EngineDirectory::other_languages() const {
  std::vector<std::string> others;
  for (const auto& [language, count] : other_languages_) others.push_back(language);
  return others;
}

std::optional<EngineId> EngineDirectory::id_of(std::string_view uuid) const {
  const auto found = known_.find(uuid);
  if (found == known_.end()) return std::nullopt;
  return found->second;
}

}  // namespace px::client
