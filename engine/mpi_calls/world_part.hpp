#pragma once

#include <mpi.h>

#include <vector>

namespace px::engine {

/// A communicator of some ranks of the world, which all of them make with the same `tag`; between
/// MPI_Init and MPI_Finalize. MPI_COMM_NULL if MPI cannot make it.
inline MPI_Comm make_communicator(const std::vector<int>& ranks, int tag) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  MPI_Comm communicator = MPI_COMM_NULL;
  PMPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &communicator);
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return communicator;
}

}  // namespace px::engine
