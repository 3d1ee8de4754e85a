#include "engine/mpi_calls/shared_cores.hpp"

#include <sched.h>

namespace px::engine {

bool ranks_share_cores(MPI_Comm ranks) {
#ifdef OPEN_MPI
  static_cast<void>(ranks);
  return false;
#else
  cpu_set_t own, all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  ::sched_getaffinity(0, sizeof own, &own);
  MPI_Comm here = MPI_COMM_NULL;
  int count = 0, shares = 0;
  PMPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  PMPI_Comm_size(here, &count);
  PMPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, here);
  PMPI_Comm_free(&here);
  int shares_here = count > CPU_COUNT(&all) ? 1 : 0;
  PMPI_Allreduce(&shares_here, &shares, 1, MPI_INT, MPI_MAX, ranks);
  return shares != 0;
#endif
}

}  // namespace px::engine
