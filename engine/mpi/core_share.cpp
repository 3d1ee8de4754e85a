#include "engine/mpi/core_share.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <string>

namespace px::engine {
namespace {

/// The number with which the value begins; Slurm writes "2(x3),1" for two on each of three hosts.
int count_in(const program::Environment& environment, const char* name) {
  const std::string text = environment(name).value_or("");
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int ranks_here(const program::Environment& environment) {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"})
    if (const int count = count_in(environment, name); count > 0) return count;
  return 0;
}

}  // namespace

std::optional<int> threads_of_rank(const program::Environment& environment, int own_cores,
                                   int host_cores) {
  const int ranks = ranks_here(environment);
  if (ranks < 2 || environment("OMP_NUM_THREADS")) return std::nullopt;
  return std::max(1, std::min(own_cores, host_cores / ranks));
}

int count_usable_cores(int pid) {
  cpu_set_t set;
  return ::sched_getaffinity(pid, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace px::engine
