#include "engine/mpi_calls/pause.hpp"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace px::engine {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Many ranks that wait for one share the cores with it.
constexpr microseconds longest_step = milliseconds(20);

}  // namespace

bool Pause::operator()() {
  if (yields_) std::this_thread::yield();
  if (++looks_ % 64 != 0 && step_.count() < 1000) return false;
  const auto waited = Clock::now() - begin_;
  if (waited > std::chrono::seconds(1))
    step_ = std::min(std::chrono::duration_cast<microseconds>(waited / 250), longest_step);
  else if (waited > milliseconds(100))
    step_ = microseconds(200);
  else if (waited > milliseconds(5))
    step_ = microseconds(20);
  if (step_.count() > 0) std::this_thread::sleep_for(step_);
  return true;
}

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
