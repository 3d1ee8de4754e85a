#include "controller/membership/version_check.hpp"

#include <tuple>
#include <utility>

namespace px::controller {
namespace {

std::string name(EngineId id) {
  return "engine " + std::to_string(id.value);
}

}  // namespace

void VersionCheck::learn(EngineId id, const EngineUuid& uuid, const EngineFacts& facts) {
  engines_[id] = uuid;
  Known& known = known_[uuid];
  known.id = id;
  add_engine_facts(known.facts, facts);
}

void VersionCheck::forget(const EngineUuid& uuid) {
  const auto found = known_.find(uuid);
  if (found == known_.end()) return;
  if (const auto holder = engines_.find(found->second.id);
      holder != engines_.end() && holder->second == uuid)
    engines_.erase(holder);
  known_.erase(found);
}

EngineFacts VersionCheck::facts_of(const EngineUuid& uuid) const {
  const auto found = known_.find(uuid);
  return found == known_.end() ? EngineFacts{} : found->second.facts;
}

namespace {

/// For each value of `fact` beside the first one: who has it, and who has the first.
template <class Engines, class Known>
std::vector<std::string> find_mixtures(const Engines& engines, const Known& known,
                                       std::string EngineFacts::* fact, const std::string& before,
                                       const std::string& consequence) {
  std::vector<std::string> mixtures;
  std::map<std::string, EngineId> firsts;  // of each value
  std::string first_value;
  for (const auto& [id, uuid] : engines) {
    const std::string& value = known.at(uuid).facts.*fact;
    if (value.empty() || !firsts.emplace(value, id).second) continue;
    if (first_value.empty()) {
      first_value = value;
      continue;
    }
    mixtures.push_back(name(id) + before + value + ", " + name(firsts.at(first_value)) + before +
                       first_value + ": " + consequence);
  }
  return mixtures;
}

}  // namespace

std::vector<std::string> VersionCheck::warnings() const {
  std::vector<std::string> sentences;
  for (const auto& [fact, before, consequence] :
       {std::tuple{
            &EngineFacts::python, " runs Python ",
            "functions that are sent by value do not run on both; start all engines with one "
            "Python (--python)"},
        std::tuple{&EngineFacts::mpi, " has loaded ",
                   "they cannot be ranks of one MPI world; load one MPI on all hosts"}})
    for (std::string& sentence : find_mixtures(engines_, known_, fact, before, consequence))
      sentences.push_back(std::move(sentence));
  std::set<std::string> others;
  for (const auto& [id, uuid] : engines_) {
    const std::string& version = known_.at(uuid).facts.polyxeus;
    if (version.empty() || version == own_version_ || !others.insert(version).second) continue;
    sentences.push_back(name(id) + " runs polyxeus " + version + ", the controller runs " +
                        own_version_ + ": install one version on all hosts");
  }
  return sentences;
}

std::vector<std::string> VersionCheck::take_news() {
  std::vector<std::string> news;
  for (std::string& sentence : warnings())
    if (told_.insert(sentence).second) news.push_back(std::move(sentence));
  return news;
}

}  // namespace px::controller
