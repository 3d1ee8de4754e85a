#pragma once

#include <string_view>
#include <vector>

#include "cluster/launch/launcher.hpp"

namespace px::cluster {

/// The MPI of an mpiexec: they define hosts and rights in different ways.
enum class MpiKind {
  unknown,
  open_mpi,
  mpich  ///< And MPIs derived from it: Intel MPI, MVAPICH.
};
/// "Open MPI", "MPICH"; empty: unknown.
std::string_view name_of(MpiKind kind);

/// From the output of `mpiexec --version`, or the version text of an MPI.
MpiKind read_mpi_kind(std::string_view version_text);

/// Of the mpiexec that `mpi_cmd` names.
MpiKind find_mpi_kind(const std::vector<std::string>& mpi_cmd, const Machine& machine);

}  // namespace px::cluster
