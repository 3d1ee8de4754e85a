#include "cluster/launch/mpi_kind.hpp"

namespace px::cluster {

MpiKind read_mpi_kind(std::string_view version_text) {
  const auto has = [&](std::string_view text) {
    return version_text.find(text) != std::string_view::npos;
  };
  if (has("Open MPI") || has("OpenRTE") || has("prterun") || has("PRRTE")) return MpiKind::open_mpi;
  if (has("HYDRA") || has("Hydra") || has("MPICH") || has("Intel(R) MPI")) return MpiKind::mpich;
  return MpiKind::unknown;
}

MpiKind find_mpi_kind(const std::vector<std::string>& mpi_cmd, const Machine& machine) {
  if (mpi_cmd.empty() || !machine.output_of || !machine.find_program(mpi_cmd.front()))
    return MpiKind::unknown;
  return read_mpi_kind(machine.output_of({mpi_cmd.front(), "--version"}).value_or(""));
}

}  // namespace px::cluster
