#include "cluster/doctor/doctor.hpp"

namespace px::cluster {
namespace {

std::string text_of(const Json& json, const char* key) {
  return string_member(json, key).value_or("");
}

std::vector<std::string> texts_of(const Json& json, const char* key) {
  std::vector<std::string> texts;
  if (!json.contains(key) || !json.at(key).is_array()) return texts;
  for (const Json& item : json.at(key))
    if (item.is_string()) texts.push_back(item.get<std::string>());
  return texts;
}

Json write_python(const PythonFacts& python) {
  return {{"path", python.path},       {"error", python.error},
          {"version", python.version}, {"polyxeus", python.polyxeus},
          {"ipython", python.ipython}, {"mpi4py", python.mpi4py},
          {"mpi", python.mpi},         {"mpi_error", python.mpi_error}};
}

PythonFacts read_python(const Json& json) {
  return {text_of(json, "path"),     text_of(json, "error"),    text_of(json, "version"),
          text_of(json, "polyxeus"), text_of(json, "ipython"),  text_of(json, "mpi4py"),
          text_of(json, "mpi"),      text_of(json, "mpi_error")};
}

}  // namespace

Json write_host_facts(const HostFacts& facts) {
  Json dialed = Json::array();
  for (const Dialed& each : facts.dialed)
    dialed.push_back(
        {{"address", each.address}, {"port", each.port}, {"state", name_of(each.state)}});
  Json json{{"host", facts.host},
            {"addresses", facts.addresses},
            {"name_addresses", facts.name_addresses},
            {"polyxeus", facts.polyxeus},
            {"controller", facts.controller},
            {"engine", facts.engine},
            {"python", write_python(facts.python)},
            {"mpiexec", facts.mpiexec},
            {"mpiexec_version", facts.mpiexec_version},
            {"has_srun", facts.has_srun},
            {"pmi", facts.pmi},
            {"has_infiniband", facts.has_infiniband},
            {"open_files", facts.limits.open_files},
            {"processes", facts.limits.processes},
            {"locked_bytes", facts.limits.locked_bytes},
            {"cpp_error", facts.cpp_error},
            {"unix_time", facts.unix_time},
            {"dialed", std::move(dialed)}};
  if (facts.shared_bytes) json["shared_bytes"] = *facts.shared_bytes;
  return json;
}

Result<HostFacts> read_host_facts(const Json& json) {
  if (!json.is_object() || !json.contains("host") || !json.contains("python"))
    return Error{ErrorKind::bad_input, "the output is not a description of a host"};
  HostFacts facts;
  facts.host = text_of(json, "host");
  facts.addresses = texts_of(json, "addresses");
  facts.name_addresses = texts_of(json, "name_addresses");
  facts.polyxeus = text_of(json, "polyxeus");
  facts.controller = text_of(json, "controller");
  facts.engine = text_of(json, "engine");
  facts.python = read_python(json.at("python"));
  facts.mpiexec = text_of(json, "mpiexec");
  facts.mpiexec_version = text_of(json, "mpiexec_version");
  facts.has_srun = bool_member(json, "has_srun").value_or(false);
  facts.pmi = texts_of(json, "pmi");
  facts.has_infiniband = bool_member(json, "has_infiniband").value_or(false);
  facts.limits = {int_member(json, "open_files").value_or(-1),
                  int_member(json, "processes").value_or(-1),
                  int_member(json, "locked_bytes").value_or(-1)};
  facts.shared_bytes = int_member(json, "shared_bytes");
  facts.cpp_error = text_of(json, "cpp_error");
  if (json.contains("unix_time") && json.at("unix_time").is_number())
    facts.unix_time = json.at("unix_time").get<double>();
  if (!json.contains("dialed") || !json.at("dialed").is_array()) return facts;
  for (const Json& each : json.at("dialed")) {
    Dialed dialed{text_of(each, "address"), static_cast<int>(int_member(each, "port").value_or(0)),
                  DialState::silent};
    for (const DialState state : {DialState::open, DialState::refused, DialState::unreachable})
      if (text_of(each, "state") == name_of(state)) dialed.state = state;
    facts.dialed.push_back(dialed);
  }
  return facts;
}

}  // namespace px::cluster
