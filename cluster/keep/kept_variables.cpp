#include "cluster/keep/kept_variables.hpp"

#include <algorithm>

#include "client/checkpoints/checkpoint.hpp"
#include "client/core.hpp"
#include "cluster/records/placed_engine.hpp"
#include "os/memory_group.hpp"
#include "wire/engine_facts.hpp"
#include "wire/time.hpp"

namespace px::cluster {
namespace {

constexpr Duration status_patience = std::chrono::seconds(1);
/// For an engine to end what it does, after an interrupt.
constexpr Duration begin_patience = std::chrono::seconds(10);

client::Function of_engine(const std::string& name) {
  return client::Function::source(
      "__import__('polyxeus.engine_calls.kept_variables', fromlist=['save'])." + name);
}

client::DirectView view_of(const client::Client& client, EngineId id) {
  return client.direct(std::vector{id});
}

std::string why_failed(const client::RemoteError& error) {
  const std::string text = error.ename() + ": " + error.evalue();
  return text.substr(0, text.find('\n'));
}

/// What runs to its end and gives a value; nothing, and the reason in `why`, where it fails.
template <class Ask>
auto ask(const Ask& asked, std::string& why) -> std::optional<decltype(asked())> {
  try {
    return asked();
  } catch (const client::RemoteError& error) {
    why = why_failed(error);
  } catch (const client::ClientError& error) {
    why = error.what();
  }
  return std::nullopt;
}

std::string set_of(const Json& facts, EngineId id) {
  const std::string place =
      read_engine_facts(object_member(facts, std::to_string(id.value))).set_member;
  return place.empty() ? std::string() : read_placed_engine(id, place).set;
}

/// A C++ expression: how the type of a variable is spelled, as one that can be assigned to.
std::string type_of(const std::string& name) {
  return "std::string(::px::cell::type_name<std::remove_cvref_t<decltype(" + name + ")>>())";
}

}  // namespace

Json KeptVariables::folders_as_json() const {
  Json paths = Json::array();
  for (const auto& folder : folders_) paths.push_back(folder.string());
  return paths;
}

void KeptVariables::save(const client::Client& client, const std::string& engine_set) {
  choose(client, engine_set);
  lose_silent(client);
  save_python(client);
  for (auto& [id, engine] : engines_)
    if (engine.language == "cpp" && engine.report.why.empty()) save_cpp(client, engine);
  for (auto& [id, engine] : engines_) engine.has_given = !engine.report.kept.empty();
}

/// The engines that are meant, without those that cannot be asked.
void KeptVariables::choose(const client::Client& client, const std::string& engine_set) {
  const auto known = client.core()->connection().engines();
  for (const EngineId id : known->ids())
    if (const auto uuid = known->uuid_of(id)) before_.insert(*uuid);
  const Json facts =
      object_member(client.ask_hub("connection_request", {{"facts", true}}), "facts");
  std::vector<EngineId> busy;
  for (const client::EngineStatus& status : client::ask_status(*client.core(), status_patience)) {
    if (status.state == "lost") continue;
    if (!engine_set.empty() && set_of(facts, status.id) != engine_set) continue;
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
                            .call(of_engine("save"),
                                  {folders_as_json(), Json(id.value), names, Json(ids.size())}));
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
            ", for which this host has no memory: write a checkpoint that all hosts can read "
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
    answers.emplace(id, engine.is_far
                            ? view.call(of_engine("unpack"), {engine.packed})
                            : view.call(of_engine("restore"), {folders_as_json(), Json(id.value)}));
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
  std::vector<client::AsyncResult> answers;
  for (const std::string& name : names) answers.push_back(view.pull({name, type_of(name)}));
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string why;
    const auto values = ask([&] { return answers[i].get_all_of(0); }, why);
    if (!values) {
      lose(engine.report, names[i], why);
      continue;
    }
    engine.variables[names[i]] = {client::as<std::string>(values->at(1)), values->at(0)};
    engine.report.kept.push_back(names[i]);
  }
}

void KeptVariables::restore_cpp(const client::Client& client, Engine& engine) {
  const client::DirectView view = view_of(client, engine.report.id);
  for (const auto& [name, variable] : engine.variables) {
    std::string why;
    // Where the type is unknown now, the variable gets the one that a push gives it.
    view.execute("std::type_identity_t<" + variable.type + "> " + name + "{};").wait();
    if (!ask([&] { return view.push({{name, variable.value}}).get(); }, why))
      lose(engine.report, name, why);
  }
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
      lose_all(engine.report, keep_, "it was not there before the restart: what it held is lost");
    }
    if (engine.report.kept.empty()) continue;
    if (engine.language == "python")
      python.push_back(id);
    else
      restore_cpp(client, engine);
  }
  restore_python(client, python);
  std::vector<KeptEngine> reports;
  for (auto& [id, engine] : engines_) {
    if (!back.contains(id)) lose_all(engine.report, keep_, "it was not started again");
    reports.push_back(engine.report);
  }
  return reports;
}

bool KeptVariables::has_lost_an_engine() const {
  return std::any_of(engines_.begin(), engines_.end(), [](const auto& item) {
    return item.second.has_given && item.second.report.kept.empty();
  });
}

}  // namespace px::cluster
