#include "cluster/keep/peer_variables.hpp"

#include <algorithm>
#include <set>

#include "client/engine_status.hpp"
#include "cluster/keep/cpp_variables.hpp"
#include "cluster/keep/engine_calls.hpp"
#include "os/memory_group.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

constexpr Duration peer_status_patience = std::chrono::seconds(1);
constexpr Duration offer_patience = std::chrono::seconds(2);

void take(KeptEngine& engine, const std::string& name, EngineId donor) {
  engine.why.clear();
  engine.lost.erase(name);
  engine.kept.push_back(name);
  engine.from.insert_or_assign(name, donor);
}

/// The engine has answered unpack() or restore() of what the donor has given.
void take_answer(KeptEngine& engine, EngineId donor, const std::vector<std::string>& names,
                 const client::AsyncResult& answer) {
  std::string why;
  const auto told = ask([&] { return client::as<Json>(answer.get_one()); }, why);
  if (!told) {
    for (const std::string& name : names) lose(engine, name, why);
    return;
  }
  KeptEngine got;
  read_kept(*told, got);
  for (const std::string& name : got.kept) take(engine, name, donor);
  for (const auto& [name, reason] : got.lost) lose(engine, name, reason);
}

}  // namespace

void PeerVariables::give(const client::Client& client, const std::vector<KeptEngine*>& needy) {
  for (KeptEngine* engine : needy) {
    engine->kept.clear();
    for (const std::string& name : names_)
      lose(*engine, name, "no other engine that answers has this variable");
  }
  const auto all = client::ask_status(*client.core(), peer_status_patience);
  for (const std::string language : {"python", "cpp"}) {
    std::vector<EngineId> donors;
    std::vector<KeptEngine*> takers;
    for (const client::EngineStatus& status : all) {
      if (status.language != language || status.state == "lost") continue;
      const auto taker = std::find_if(needy.begin(), needy.end(), [&](const KeptEngine* engine) {
        return engine->id == status.id;
      });
      if (taker != needy.end())
        takers.push_back(*taker);
      else if (status.state != "no answer")
        donors.push_back(status.id);
    }
    if (takers.empty()) continue;
    if (language == "python")
      give_python(client, donors, takers);
    else
      give_cpp(client, donors, takers);
  }
}

// ---------------------------------------------------------------- Python

void PeerVariables::give_python(const client::Client& client, const std::vector<EngineId>& donors,
                                const std::vector<KeptEngine*>& needy) {
  std::vector<EngineId> all = donors;
  for (const KeptEngine* engine : needy) all.push_back(engine->id);
  const Offers offers = ask_offers(client, all);
  const auto sees = [&](EngineId id) {
    const auto offer = offers.find(id);
    return offer != offers.end() && offer->second.sees_folders;
  };
  const bool all_see = std::all_of(needy.begin(), needy.end(),
                                   [&](const KeptEngine* each) { return sees(each->id); });
  std::set<std::string> left(names_.begin(), names_.end());
  for (const EngineId donor : donors) {
    const auto offer = offers.find(donor);
    if (offer == offers.end()) continue;
    std::vector<std::string> names;
    for (const std::string& name : offer->second.defined)
      if (left.erase(name) > 0) names.push_back(name);
    if (!names.empty()) pass_on(client, donor, names, needy, all_see && sees(donor));
  }
}

/// Those of the engines that answer in time.
PeerVariables::Offers PeerVariables::ask_offers(const client::Client& client,
                                                const std::vector<EngineId>& engines) const {
  std::map<EngineId, client::AsyncResult> answers;
  for (const EngineId id : engines)
    answers.emplace(
        id, view_of(client, id).call(of_engine("offer"), {paths_as_json(folders_), Json(names_)}));
  const Instant end = Clock::now() + offer_patience;
  Offers offers;
  for (auto& [id, answer] : answers) {
    std::string why;
    if (!answer.wait(std::max(Duration{}, end - Clock::now())))
      answer.abort();
    else if (const auto told = ask([&] { return client::as<Json>(answer.get_one()); }, why))
      offers[id] = {strings_member(*told, "defined").value_or(std::vector<std::string>{}),
                    told->value("sees_folders", false)};
  }
  return offers;
}

/// by_files  by files in the folders, which these engines see; else through this process.
void PeerVariables::pass_on(const client::Client& client, EngineId donor,
                            const std::vector<std::string>& names,
                            const std::vector<KeptEngine*>& needy, bool by_files) const {
  const auto lose_names = [&](const std::string& why) {
    for (KeptEngine* engine : needy)
      for (const std::string& name : names) lose(*engine, name, why);
  };
  const client::DirectView view = view_of(client, donor);
  const std::string key = "of-" + std::to_string(donor.value);
  std::string why;
  const client::AsyncResult saving =
      by_files ? view.call(of_engine("save"), {paths_as_json(folders_), Json(key), Json(names)})
               : view.call(of_engine("pack"), {Json(names)});
  const auto saved = ask([&] { return client::as<Json>(saving.get_one()); }, why);
  if (!saved) return lose_names(why);
  KeptEngine given;
  read_kept(*saved, given);
  std::optional<Value> packed;
  if (!by_files) {
    const std::int64_t bytes = int_member(*saved, "bytes").value_or(0);
    if (bytes > os::half_of_usable_memory())
      return lose_names("this host has too little memory to copy it between two other hosts");
    packed = ask([&] { return view.call(of_engine("packed")).get_one(); }, why);
    if (!packed) return lose_names(why);
  }
  std::vector<client::AsyncResult> answers;
  for (const KeptEngine* engine : needy)
    answers.push_back(packed ? view_of(client, engine->id).call(of_engine("unpack"), {*packed})
                             : view_of(client, engine->id)
                                   .call(of_engine("restore"),
                                         {paths_as_json(folders_), Json(key), Json(false)}));
  for (std::size_t i = 0; i < needy.size(); ++i) {
    take_answer(*needy[i], donor, given.kept, answers[i]);
    for (const auto& [name, reason] : given.lost) lose(*needy[i], name, reason);
  }
}

// ---------------------------------------------------------------- C++

void PeerVariables::give_cpp(const client::Client& client, const std::vector<EngineId>& donors,
                             const std::vector<KeptEngine*>& needy) {
  std::vector<std::string> left = names_;
  for (const EngineId donor : donors) {
    if (left.empty()) return;
    client::AsyncResult probe = view_of(client, donor).pull("0");
    if (!probe.wait(offer_patience)) {
      probe.abort();
      continue;
    }
    std::map<std::string, std::string> lost;
    const CppVariables variables = fetch_cpp(view_of(client, donor), left, lost);
    std::erase_if(left, [&](const std::string& name) { return variables.contains(name); });
    for (KeptEngine* engine : needy) {
      const auto refused = define_cpp(view_of(client, engine->id), variables);
      for (const auto& [name, variable] : variables)
        if (const auto why = refused.find(name); why != refused.end())
          lose(*engine, name, why->second);
        else
          take(*engine, name, donor);
    }
  }
}

}  // namespace px::cluster
