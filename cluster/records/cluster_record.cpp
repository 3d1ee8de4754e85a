#include "cluster/records/cluster_record.hpp"

#include <set>
#include <utility>

#include "os/host.hpp"
#include "wire/checked_json.hpp"
#include "wire/json.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson state_of(const ClusterRecord& record) {
  return {
      {"cluster_id", record.cluster_id}, {"profile_dir", record.profile_dir}, {"state", "running"}};
}

OrderedJson process_json(const ClusterRecord& record, const RecordedProcess& process) {
  OrderedJson state = state_of(record);
  if (process.engine_count > 0) state["n"] = process.engine_count;
  state["pid"] = process.pid;
  state["output_file"] = process.output_file;
  if (process.supervisor > 0) state["supervisor"] = process.supervisor;
  if (process.owner > 0) state["owner"] = process.owner;
  if (!process.birth.empty()) state["birth"] = process.birth;
  if (!process.host.empty()) state["host"] = process.host;
  if (!process.supervisor_birth.empty()) state["supervisor_birth"] = process.supervisor_birth;
  return state;
}

bool is_one_process(std::string_view launcher) {
  return launcher == "mpi" || launcher == "polyxeus-mpi";
}

OrderedJson set_json(const ClusterRecord& record, const RecordedEngineSet& set,
                     std::string_view file_launcher) {
  if (is_one_process(file_launcher) && set.processes.size() == 1)
    return process_json(record, set.processes.begin()->second);
  OrderedJson state = state_of(record);
  state["n"] = set.engine_count();
  state["pid"] = -1;
  OrderedJson engines = OrderedJson::object();
  for (const auto& [key, process] : set.processes) engines[key] = process_json(record, process);
  state["engines"] = std::move(engines);
  return state;
}

/// The one launcher that can stand for all sets.
std::string common_launcher(const ClusterRecord& record) {
  std::string launcher = record.engine_launcher;
  for (const auto& [id, set] : record.engine_sets)
    if (set.launcher != launcher) launcher = "local";
  return launcher;
}

std::string text_at(const Json& object, const char* key) {
  return object.is_object() ? string_member(object, key).value_or("") : "";
}

RecordedProcess read_process(const Json& state) {
  const auto number = [&](const char* key) { return integer_member<int>(state, key).value_or(0); };
  return {.pid = number("pid"),
          .output_file = text_at(state, "output_file"),
          .engine_count = number("n"),
          .supervisor = number("supervisor"),
          .owner = number("owner"),
          .birth = text_at(state, "birth"),
          .host = text_at(state, "host"),
          .supervisor_birth = text_at(state, "supervisor_birth")};
}

RecordedEngineSet read_set(const Json& state, const std::string& launcher) {
  RecordedEngineSet set;
  set.launcher = launcher;
  const RecordedProcess whole = read_process(state);
  if (whole.pid > 0) set.processes["0"] = whole;
  if (const auto engines = state.find("engines"); engines != state.end() && engines->is_object())
    for (const auto& [key, engine] : engines->items())
      if (engine.is_object()) set.processes[key] = read_process(engine);
  return set;
}

void read_cluster(const Json& cluster, ClusterRecord& record) {
  record.cluster_id = text_at(cluster, "cluster_id");
  record.profile_dir = text_at(cluster, "profile_dir");
  record.controller_ip = text_at(cluster, "controller_ip");
  record.controller_location = text_at(cluster, "controller_location");
  if (cluster.contains("delay") && cluster["delay"].is_number())
    record.delay = cluster["delay"].get<double>();
  if (const auto n = integer_member<int>(cluster, "n")) record.n = *n;
  if (auto arguments = strings_member(cluster, "controller_args"))
    record.controller_args = std::move(*arguments);
}

}  // namespace

RecordedProcess RecordedProcess::supervising_process() const {
  RecordedProcess process;
  process.pid = supervisor;
  process.birth = supervisor_birth;
  return process;
}

int RecordedEngineSet::engine_count() const {
  int count = 0;
  for (const auto& [key, process] : processes) count += process.engine_count;
  return count;
}

int ClusterRecord::engine_count() const {
  int count = 0;
  for (const auto& [id, set] : engine_sets) count += set.engine_count();
  return count;
}

std::vector<int> ClusterRecord::engine_pids() const {
  std::vector<int> pids;
  for (const auto& [id, set] : engine_sets)
    for (const auto& [key, process] : set.processes) pids.push_back(process.pid);
  return pids;
}

std::string write_cluster_record(const ClusterRecord& record) {
  OrderedJson file;
  file["cluster"] = {{"cluster_id", record.cluster_id},
                     {"controller_args", record.controller_args},
                     {"controller_ip", record.controller_ip},
                     {"controller_location", record.controller_location},
                     {"delay", record.delay},
                     {"n", nullptr},
                     {"profile_dir", record.profile_dir},
                     {"class", "ipyparallel.cluster.cluster.Cluster"}};
  if (record.n) file["cluster"]["n"] = *record.n;
  if (record.controller)
    file["controller"] = {{"class", record.controller_launcher},
                          {"state", process_json(record, *record.controller)}};
  const std::string launcher = common_launcher(record);
  OrderedJson sets = OrderedJson::object();
  for (const auto& [id, set] : record.engine_sets) sets[id] = set_json(record, set, launcher);
  file["engines"] = {{"class", launcher}, {"sets", std::move(sets)}};
  for (const auto& [id, set] : record.engine_sets)
    if (!set.started_by.empty()) file["engines"]["started_by"][id] = set.started_by;
  return file.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

Result<ClusterRecord> read_cluster_record(std::string_view text) {
  const Result<Json> file = unpack(Packer::json, text);
  if (!file) return file.error();
  if (!file->contains("cluster") || !(*file)["cluster"].is_object())
    return Error{ErrorKind::bad_input, "the object 'cluster' is missing"};
  ClusterRecord record;
  read_cluster((*file)["cluster"], record);
  if (const auto controller = file->find("controller");
      controller != file->end() && controller->is_object()) {
    record.controller_launcher = text_at(*controller, "class");
    if (const auto state = controller->find("state");
        state != controller->end() && state->is_object())
      record.controller = read_process(*state);
  }
  if (const auto engines = file->find("engines"); engines != file->end() && engines->is_object()) {
    record.engine_launcher = text_at(*engines, "class");
    if (const auto sets = engines->find("sets"); sets != engines->end() && sets->is_object())
      for (const auto& [id, state] : sets->items())
        if (state.is_object()) record.engine_sets[id] = read_set(state, record.engine_launcher);
    if (const auto names = engines->find("started_by"); names != engines->end())
      for (auto& [id, set] : record.engine_sets) set.started_by = text_at(*names, id.c_str());
  }
  return record;
}

HostIdentity HostIdentity::here() {
  return {os::host_name(), os::boot_id()};
}

bool is_elsewhere(const RecordedProcess& process, const HostIdentity& here) {
  return !process.host.empty() && process.host != here.name &&
         process.birth.substr(0, process.birth.find(':')) != here.boot;
}

std::string other_hosts(const ClusterRecord& record, const HostIdentity& here) {
  std::set<std::string> hosts;
  const auto note = [&](const RecordedProcess& process) {
    if (is_elsewhere(process, here)) hosts.insert(process.host);
  };
  if (record.controller) note(*record.controller);
  for (const auto& [id, set] : record.engine_sets)
    for (const auto& [key, process] : set.processes) note(process);
  return join(hosts, ", ");
}

ClusterRecord living_part(const ClusterRecord& record,
                          const std::function<bool(const RecordedProcess&)>& is_alive) {
  ClusterRecord living = record;
  if (living.controller && !is_alive(*living.controller)) living.controller.reset();
  for (auto& [id, set] : living.engine_sets)
    std::erase_if(set.processes, [&](const auto& item) { return !is_alive(item.second); });
  std::erase_if(living.engine_sets, [](const auto& item) { return item.second.processes.empty(); });
  return living;
}

ClusterRecord merge_records(ClusterRecord record, const ClusterRecord& own) {
  if (own.controller || record.is_empty()) {
    ClusterRecord merged = own;
    merged.engine_sets.merge(record.engine_sets);
    return merged;
  }
  for (const auto& [id, set] : own.engine_sets) record.engine_sets[id] = set;
  return record;
}

}  // namespace px::cluster
