#include "cluster/keep/keep_report.hpp"

#include <algorithm>
#include <utility>

#include "client/targets.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// "engine 2 has", "engines 0 and 1 have".
std::string have(const std::vector<EngineId>& ids) {
  return client::say_engines(ids) + (ids.size() == 1 ? " has" : " have");
}

/// "kept a, b", or "a, b of engine 0, c of engine 1".
std::string list_kept(const KeptEngine& engine) {
  if (engine.from.empty()) return "kept " + join(engine.kept, ", ");
  std::map<EngineId, std::vector<std::string>> by_donor;
  for (const std::string& name : engine.kept)
    if (const auto donor = engine.from.find(name); donor != engine.from.end())
      by_donor[donor->second].push_back(name);
  return join(by_donor, ", ", [](const auto& given) {
    return join(given.second, ", ") + " of engine " + std::to_string(given.first.value);
  });
}

/// "f, g (not defined there), h (cannot pickle ...)"
std::string list_lost(const std::map<std::string, std::string>& lost) {
  std::map<std::string, std::vector<std::string>> by_reason;
  for (const auto& [name, why] : lost) by_reason[why].push_back(name);
  return join(by_reason, ", ", [](const auto& reason) {
    return join(reason.second, ", ") + " (" + reason.first + ")";
  });
}

}  // namespace

void lose(KeptEngine& engine, const std::string& name, std::string why) {
  std::erase(engine.kept, name);
  engine.from.erase(name);
  engine.lost[name] = std::move(why);
}

void lose_all(KeptEngine& engine, const Keep& keep, std::string why) {
  for (const std::string& name : keep.names) lose(engine, name, why);
  for (const std::string& name : std::vector(engine.kept)) lose(engine, name, why);
  engine.why = std::move(why);
}

void read_kept(const Json& answer, KeptEngine& engine) {
  engine.kept.clear();
  if (auto names = strings_member(answer, "kept")) engine.kept = std::move(*names);
  const Json lost = object_member(answer, "lost");
  for (const auto& [name, why] : lost.items())
    if (why.is_string()) lose(engine, name, why.get<std::string>());
}

Json kept_as_json(const std::vector<KeptEngine>& engines) {
  Json rows = Json::array();
  for (const KeptEngine& engine : engines) {
    Json from = Json::object();
    for (const auto& [name, donor] : engine.from) from[name] = donor.value;
    rows.push_back({{"engine", engine.id.value},
                    {"kept", engine.kept},
                    {"from", std::move(from)},
                    {"lost", engine.lost},
                    {"why", text_or_null(engine.why)}});
  }
  return rows;
}

KeptSentences kept_as_text(const std::vector<KeptEngine>& engines) {
  KeptSentences sentences;
  std::vector<std::pair<const KeptEngine*, std::vector<EngineId>>> alike;
  for (const KeptEngine& engine : engines) {
    if (engine.kept.empty()) continue;
    const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& each) {
      return each.first->kept == engine.kept && each.first->from == engine.from;
    });
    if (same == alike.end())
      alike.push_back({&engine, {engine.id}});
    else
      same->second.push_back(engine.id);
  }
  for (const auto& [first, ids] : alike)
    sentences.kept.push_back(have(ids) + " " + list_kept(*first) +
                             (first->from.empty() ? ""
                              : ids.size() == 1   ? ": its own values are lost"
                                                  : ": their own values are lost"));
  for (const KeptEngine& engine : engines) {
    if (!engine.why.empty())
      sentences.lost.push_back(have({engine.id}) + " kept nothing: " + engine.why);
    else if (!engine.lost.empty())
      sentences.lost.push_back(have({engine.id}) + " lost " + list_lost(engine.lost));
  }
  return sentences;
}

}  // namespace px::cluster
