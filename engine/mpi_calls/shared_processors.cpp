#include "engine/mpi_calls/shared_processors.hpp"

#include <sched.h>

namespace px::engine {

bool share_processors(MPI_Comm ranks) {
#ifdef OPEN_MPI
  // It does, where mpiexec has more ranks than slots, or by mpi_yield_when_idle.
  static_cast<void>(ranks);
  return false;
#else
  cpu_set_t own, all;
  CPU_ZERO(&own);
  CPU_ZERO(&all);
  ::sched_getaffinity(0, sizeof own, &own);
  MPI_Comm host_ranks = MPI_COMM_NULL;
  int count = 0, own_answer = 0, answer = 0;
  PMPI_Comm_split_type(ranks, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host_ranks);
  PMPI_Comm_size(host_ranks, &count);
  PMPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, host_ranks);
  PMPI_Comm_free(&host_ranks);
  own_answer = count > CPU_COUNT(&all) ? 1 : 0;
  PMPI_Allreduce(&own_answer, &answer, 1, MPI_INT, MPI_MAX, ranks);
  return answer != 0;
#endif
}

}  // namespace px::engine
