#include "cluster/launch/mpi_kind.hpp"

#include <algorithm>
#include <initializer_list>

namespace px::cluster {

MpiKind read_mpi_kind(std::string_view version_text) {
  const auto has_any = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
      return version_text.find(name) != std::string_view::npos;
    });
  };
  if (has_any({"Open MPI", "OpenRTE", "open-mpi", "prterun", "PRRTE"})) return MpiKind::open_mpi;
  if (has_any({"HYDRA", "Hydra", "MPICH", "MVAPICH", "Intel(R) MPI"})) return MpiKind::mpich;
  return MpiKind::unknown;
}

std::string_view name_of(MpiKind kind) {
  return kind == MpiKind::open_mpi ? "Open MPI" : kind == MpiKind::mpich ? "MPICH" : "";
}

MpiKind find_mpi_kind(const std::vector<std::string>& mpi_cmd, const Machine& machine) {
  if (mpi_cmd.empty() || !machine.output_of || !machine.find_program(mpi_cmd.front()))
    return MpiKind::unknown;
  return read_mpi_kind(machine.output_of({mpi_cmd.front(), "--version"}).value_or(""));
}

}  // namespace px::cluster
