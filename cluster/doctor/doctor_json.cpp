#include "cluster/doctor/doctor.hpp"

namespace px::cluster {

// The members in JSON. What another version does not say keeps its default.

NLOHMANN_JSON_SERIALIZE_ENUM(DialState, {{DialState::silent, "silent"},
                                         {DialState::open, "open"},
                                         {DialState::refused, "refused"},
                                         {DialState::unreachable, "unreachable"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Dialed, address, port, state)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(FolderFacts, use, path, error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(LimitFacts, open_files, processes, locked_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(PythonFacts, path, error, version, polyxeus,
                                                ipython, mpi4py, mpi, mpi_error, mpi_interrupts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(HostFacts, host, addresses, name_addresses,
                                                polyxeus, controller, engine, python, mpiexec,
                                                mpiexec_version, has_srun, pmi, has_infiniband,
                                                limits, shared_bytes, cpp_error, unix_time, dialed,
                                                mpiexec_wanted, mpiexec_error, shared_error,
                                                folders, package_source, nvidia_gpus, amd_gpus)

Json write_host_facts(const HostFacts& facts) {
  return facts;
}

Result<HostFacts> read_host_facts(const Json& json) try {
  if (json.contains("host") && json.contains("python")) return json.get<HostFacts>();
  return Error{ErrorKind::bad_input, "the output is not a description of a host"};
} catch (const Json::exception& failure) {
  return Error{ErrorKind::bad_input,
               std::string("the output is not a description of a host: ") + failure.what()};
}

}  // namespace px::cluster
