#include "engine/ranks/rank_variables.hpp"

#include <numeric>
#include <string_view>

#include "engine/mpi/stable_hash.hpp"
#include "engine/mpi/world.hpp"
#include "wire/text.hpp"

namespace px::engine {
namespace {

constexpr const char* loopback = "127.0.0.1";

std::optional<int> count_of(const program::Environment& environment, const char* name) {
  const auto value = read_whole_number(environment(name).value_or(""));
  return value && *value >= 0 ? value : std::nullopt;
}

/// How Slurm writes the numbers of tasks of all hosts: "2(x3),1" -> the one of the host `index`.
std::optional<int> tasks_on_host(std::string_view text, int index) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    const std::size_t bracket = word.find("(x");
    int hosts = 1;
    if (bracket != std::string_view::npos && word.ends_with(')'))
      hosts = read_whole_number(word.substr(bracket + 2, word.size() - bracket - 3)).value_or(1);
    if (index < hosts) return read_whole_number(word.substr(0, bracket));
    index -= hosts;
    begin = end + 1;
  }
  return std::nullopt;
}

/// The first host of Slurm's list: "node[03-07,9],gpu1" -> "node03".
std::string first_host(const std::string& list) {
  const std::size_t end = list.find_first_of(",[");
  if (end == std::string::npos || list[end] == ',') return list.substr(0, end);
  const std::size_t number = end + 1;
  return list.substr(0, end) + list.substr(number, list.find_first_of(",-]", number) - number);
}

/// mpiexec inside of a Slurm job starts its daemons by srun: what that says is then not the ranks'.
bool is_task_of_slurm(const program::Environment& environment, const RankPlace& place) {
  const auto size = count_of(environment, "SLURM_STEP_NUM_TASKS");
  return count_of(environment, "SLURM_PROCID") == place.rank &&
         (size ? size : count_of(environment, "SLURM_NTASKS")) == place.size;
}

void add_slurm_place(const program::Environment& environment, RankPlace& place) {
  const auto host = count_of(environment, "SLURM_NODEID");
  if (!is_task_of_slurm(environment, place) || !host) return;
  place.host = host;
  const auto tasks = environment("SLURM_STEP_TASKS_PER_NODE");
  const auto local_rank = count_of(environment, "SLURM_LOCALID");
  if (place.local_rank || !local_rank || !tasks) return;
  place.local_rank = local_rank;
  place.local_size = tasks_on_host(*tasks, *host);
}

/// Where `hosts` says that the rank is.
RankPlace planned_place(int rank, const std::vector<int>& hosts) {
  RankPlace place{.rank = rank, .size = std::accumulate(hosts.begin(), hosts.end(), 0)};
  int first = 0;
  for (std::size_t i = 0; i < hosts.size(); first += hosts[i++]) {
    if (rank >= first + hosts[i]) continue;
    place.local_rank = rank - first;
    place.local_size = hosts[i];
    place.host = static_cast<int>(i);
    break;
  }
  return place;
}

/// Which host it is of those that have equally many ranks, one host's after the other's.
std::optional<int> host_of_equal_ones(const RankPlace& place) {
  if (!place.local_rank || !place.local_size) return std::nullopt;
  const int first = place.rank - *place.local_rank;
  if (first % *place.local_size != 0) return std::nullopt;
  return first / *place.local_size;
}

RankPlace launched_place(const program::Environment& environment, const World& world,
                         const RankPlan& plan) {
  RankPlace place{.rank = world.rank.value, .size = world.size};
  for (const auto& [rank, size] :
       {std::pair{"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
        std::pair{"MPI_LOCALRANKID", "MPI_LOCALNRANKS"}}) {
    const auto local_rank = count_of(environment, rank), local_size = count_of(environment, size);
    if (place.local_rank || !local_rank || !local_size || *local_rank >= *local_size) continue;
    place.local_rank = local_rank;
    place.local_size = local_size;
  }
  add_slurm_place(environment, place);
  const RankPlace planned = planned_place(place.rank, plan.hosts);
  const bool fits =
      planned.size == place.size && (!place.local_rank || (planned.local_rank == place.local_rank &&
                                                           planned.local_size == place.local_size));
  if (fits) return planned;
  if (!place.host) place.host = host_of_equal_ones(place);
  return place;
}

/// Where rank 0 can be reached; empty: it is not known.
std::string address_of(const program::Environment& environment, const RankPlace& place,
                       const RankPlan& plan) {
  if (const auto given = environment("MASTER_ADDR")) return *given;
  if (place.local_size == place.size) return loopback;
  if (!plan.address.empty()) return plan.address;
  // The step of mpiexec's daemons does not have the host on which mpiexec itself runs.
  const auto step = is_task_of_slurm(environment, place) ? environment("SLURM_STEP_NODELIST")
                                                         : std::optional<std::string>();
  return first_host(step ? *step : environment("SLURM_JOB_NODELIST").value_or(""));
}

/// Ports that pxcluster has chosen; without it two that follow from the launcher's name for its
/// run, below those that the system gives to connections.
std::pair<int, int> ports_of(const program::Environment& environment, const RankPlan& plan) {
  if (plan.ports.size() == 2) return {plan.ports[0], plan.ports[1]};
  const auto world = find_world(environment);
  if (!world || world->name.find("  ") != std::string::npos) return {};  // its run has no name
  const int first = 20000 + 2 * static_cast<int>(stable_hash(world->name) % 6000);
  return {first, first + 1};
}

}  // namespace

std::optional<RankPlace> find_rank_place(const program::Environment& environment, bool is_mpi,
                                         const RankPlan& plan) {
  if (is_mpi) {
    const auto world = find_world(environment);
    return world ? std::optional(launched_place(environment, *world, plan)) : std::nullopt;
  }
  const auto number = count_of(environment, "PX_ENGINE_NUMBER");
  if (!number) return std::nullopt;
  const RankPlace place = planned_place(*number, plan.hosts);
  return place.host ? std::optional(place) : std::nullopt;
}

std::vector<std::pair<std::string, std::string>> rank_variables(
    const program::Environment& environment, bool is_mpi, const RankPlan& plan) {
  std::vector<std::pair<std::string, std::string>> variables;
  const auto place = find_rank_place(environment, is_mpi, plan);
  if (!place || environment("POLYXEUS_RANK_VARIABLES") == "0") return variables;
  const auto set = [&](const char* name, const std::string& value) {
    if (!value.empty() && !environment(name)) variables.emplace_back(name, value);
  };
  const auto set_number = [&](const char* name, std::optional<int> value) {
    if (value) set(name, std::to_string(*value));
  };
  set_number("RANK", place->rank);
  set_number("WORLD_SIZE", place->size);
  set_number("LOCAL_RANK", place->local_rank);
  set_number("LOCAL_WORLD_SIZE", place->local_size);
  set_number("GROUP_RANK", place->host);
  const std::string address = address_of(environment, *place, plan);
  const auto [torch_port, jax_port] = ports_of(environment, plan);
  set("MASTER_ADDR", address);
  if (torch_port > 0) set_number("MASTER_PORT", torch_port);
  set("TORCHELASTIC_RUN_ID", "polyxeus");
  if (!address.empty() && jax_port > 0)
    set("JAX_COORDINATOR_ADDRESS",
        (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" +
            std::to_string(jax_port));
  return variables;
}

}  // namespace px::engine
