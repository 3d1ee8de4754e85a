#include "cluster/keep/kept_variables.hpp"

#include <algorithm>

#include "client/checkpoints/checkpoint.hpp"
#include "client/core.hpp"
#include "cluster/keep/engine_calls.hpp"
#include "cluster/keep/peer_variables.hpp"
#include "os/memory_group.hpp"
#include "wire/engine_facts.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

constexpr Duration status_patience = std::chrono::seconds(1);
/// For an engine to end what it does, after an interrupt.
constexpr Duration begin_patience = std::chrono::seconds(10);

PlacedEngine place_of(const Json& facts, EngineId id) {
  return read_placed_engine(
      id, read_engine_facts(object_member(facts, std::to_string(id.value))).set_member);
}

}  // namespace

void KeptVariables::save(const client::Client& client) {
  choose(client);
  lose_silent(client);
  save_python(client);
  for (auto& [id, engine] : engines_)
    if (engine.language == "cpp" && engine.report.why.empty()) save_cpp(client, engine);
  for (auto& [id, engine] : engines_) engine.has_given = !engine.report.kept.empty();
}

/// The engines that are meant, without those that cannot be asked.
void KeptVariables::choose(const client::Client& client) {
  const auto known = client.core()->connection().engines();
  for (const EngineId id : known->ids())
    if (const auto uuid = known->uuid_of(id)) before_.insert(*uuid);
  const Json facts =
      object_member(client.ask_hub("connection_request", {{"facts", true}}), "facts");
  std::vector<EngineId> busy;
  for (const client::EngineStatus& status : client::ask_status(*client.core(), status_patience)) {
    if (status.state == "lost") continue;
    if (!choice_.includes(place_of(facts, status.id))) continue;
    Engine& engine = engines_[status.id];
    engine.report.id = status.id;
    engine.language = status.language;
    if (status.language.empty())
      lose_all(engine.report, keep_, "it is an engine of ipyparallel");
    else if (status.state == "no answer")
      lose_all(engine.report, keep_, "it did not answer");
    else if (status.state == "busy")
      busy.push_back(status.id);
  }
  if (!busy.empty()) client.direct(busy).interrupt();
}

/// Gives up the variables of engines that do not begin with a request in time.
void KeptVariables::lose_silent(const client::Client& client) {
  std::map<EngineId, client::AsyncResult> probes;
  for (auto& [id, engine] : engines_)
    if (engine.report.why.empty()) probes.emplace(id, view_of(client, id).pull("0"));
  const Instant end = Clock::now() + begin_patience;
  for (auto& [id, probe] : probes) {
    const bool is_answered = probe.wait(std::max(Duration{}, end - Clock::now()));
    if (!is_answered) {
      probe.abort();
      lose_all(engines_.at(id).report, keep_,
               "it was still busy " + format_duration(begin_patience) + " after an interrupt");
      continue;
    }
    std::string why;
    if (!ask([&] { return probe.get(); }, why)) lose_all(engines_.at(id).report, keep_, why);
  }
}

// ---------------------------------------------------------------- Python

void KeptVariables::save_python(const client::Client& client) {
  std::vector<EngineId> ids;
  for (const auto& [id, engine] : engines_)
    if (engine.language == "python" && engine.report.why.empty()) ids.push_back(id);
  std::map<EngineId, client::AsyncResult> answers;
  const Json names = keep_.has_all ? Json() : Json(keep_.names);
  for (const EngineId id : ids)
    answers.emplace(id, view_of(client, id)
                            .call(of_engine("save"), {paths_as_json(folders_), Json(id.value),
                                                      names, Json(ids.size())}));
  for (const auto& [id, answer] : take_answers(answers))
    engines_.at(id).is_far = answer.value("is_far", false);
  fetch_far(client);
}

/// Fetches the variables of the engines whose hosts do not see the folders.
void KeptVariables::fetch_far(const client::Client& client) {
  std::map<EngineId, client::AsyncResult> packing, fetching;
  const Json names = keep_.has_all ? Json() : Json(keep_.names);
  for (const auto& [id, engine] : engines_)
    if (engine.is_far) packing.emplace(id, view_of(client, id).call(of_engine("pack"), {names}));
  std::int64_t bytes = 0;
  for (const auto& [id, answer] : take_answers(packing)) {
    bytes += int_member(answer, "bytes").value_or(0);
    fetching.emplace(id, view_of(client, id).call(of_engine("packed")));
  }
  if (bytes > os::half_of_usable_memory())
    throw client::ClientError(
        ErrorKind::overloaded,
        "nothing was restarted: the variables to keep of engines on other hosts take " +
            client::format_bytes(static_cast<std::uint64_t>(bytes)) +
            ", and this host has too little memory: write a checkpoint that all hosts can read "
            "(`pxcluster checkpoint create PATH`), restart without keeping, and restore it");
  for (const auto& [id, answer] : fetching) {
    std::string why;
    if (auto value = ask([&] { return answer.get_one(); }, why))
      engines_.at(id).packed = std::move(*value);
    else
      throw client::ClientError(ErrorKind::system,
                                "nothing was restarted: the variables of engine " +
                                    std::to_string(id.value) + " could not be fetched: " + why);
  }
}

void KeptVariables::restore_python(const client::Client& client, const std::vector<EngineId>& ids) {
  std::map<EngineId, client::AsyncResult> answers;
  for (const EngineId id : ids) {
    const Engine& engine = engines_.at(id);
    const client::DirectView view = view_of(client, id);
    answers.emplace(id, engine.is_far ? view.call(of_engine("unpack"), {engine.packed})
                                      : view.call(of_engine("restore"),
                                                  {paths_as_json(folders_), Json(id.value)}));
  }
  take_answers(answers);
}

/// The answers of functions of the Python module kept_variables, entered into the reports. An
/// engine that answered with an error is not among them: its report says that it lost all.
std::map<EngineId, Json> KeptVariables::take_answers(
    const std::map<EngineId, client::AsyncResult>& answers) {
  std::map<EngineId, Json> taken;
  for (const auto& [id, answer] : answers) {
    KeptEngine& report = engines_.at(id).report;
    std::string why;
    if (auto value = ask([&] { return client::as<Json>(answer.get_one()); }, why)) {
      read_kept(*value, report);
      taken.emplace(id, std::move(*value));
    } else {
      lose_all(report, keep_, why);
    }
  }
  return taken;
}

// ---------------------------------------------------------------- C++

/// The names to carry; none, and the reason in the report, where the engine cannot tell.
std::vector<std::string> KeptVariables::cpp_names(const client::DirectView& view,
                                                  Engine& engine) const {
  if (!keep_.has_all) return keep_.names;
  std::string why;
  const auto told =
      ask([&] { return client::as<Json>(view.pull("::px::variables()").get_one()); }, why);
  std::vector<std::string> names;
  if (!told) lose_all(engine.report, keep_, why);
  for (const Json& name : told.value_or(Json::array()))
    if (name.is_string() && name != "mpi_rank" && name != "mpi_size")  // the new engine has its own
      names.push_back(name.get<std::string>());
  return names;
}

void KeptVariables::save_cpp(const client::Client& client, Engine& engine) {
  const client::DirectView view = view_of(client, engine.report.id);
  const std::vector<std::string> names = cpp_names(view, engine);
  engine.variables = fetch_cpp(view, names, engine.report.lost);
  for (const std::string& name : names)
    if (engine.variables.contains(name)) engine.report.kept.push_back(name);
}

void KeptVariables::restore_cpp(const client::Client& client, Engine& engine) {
  for (const auto& [name, why] : define_cpp(view_of(client, engine.report.id), engine.variables))
    lose(engine.report, name, why);
}

// ---------------------------------------------------------------- afterwards

std::vector<KeptEngine> KeptVariables::restore(const client::Client& client) {
  const auto known = client.core()->connection().engines();
  std::vector<EngineId> python;
  std::set<EngineId> back;
  for (const EngineId id : known->ids()) {
    const auto uuid = known->uuid_of(id);
    if (!uuid || before_.contains(*uuid)) continue;
    back.insert(id);
    Engine& engine = engines_[id];
    if (engine.language.empty() && engine.report.why.empty()) {
      engine.report.id = id;
      lose_all(engine.report, keep_, "it had ended before the restart, so its variables are lost");
    }
    if (engine.report.kept.empty()) continue;
    if (engine.language == "python")
      python.push_back(id);
    else
      restore_cpp(client, engine);
  }
  restore_python(client, python);
  if (!choice_.engines.empty()) take_from_peers(client, back);
  std::vector<KeptEngine> reports;
  for (auto& [id, engine] : engines_) {
    if (!back.contains(id)) lose_all(engine.report, keep_, "it was not started again");
    reports.push_back(engine.report);
  }
  return reports;
}

/// Engines whose own variables are lost get those of others.
void KeptVariables::take_from_peers(const client::Client& client, const std::set<EngineId>& back) {
  std::vector<KeptEngine*> needy;
  for (const EngineId id : back)
    if (KeptEngine& report = engines_.at(id).report;
        !report.why.empty() && choice_.includes({id, "", std::nullopt}))
      needy.push_back(&report);
  if (needy.empty()) return;
  if (!keep_.has_all) return PeerVariables{keep_.names, folders_}.give(client, needy);
  for (KeptEngine* report : needy)
    report->why += "; name the variables to copy from another engine";
}

bool KeptVariables::has_lost_an_engine() const {
  return std::any_of(engines_.begin(), engines_.end(), [](const auto& item) {
    return item.second.has_given && item.second.report.kept.empty();
  });
}

}  // namespace px::cluster
