#include "engine/mpi/world.hpp"

#include <array>
#include <string_view>

#include "wire/text.hpp"

namespace px::engine {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  std::array<const char*, 2> sizes;
};

// The order matters: srun may start Open MPI's or MPICH's programs and set its own names as well.
constexpr std::array<Launcher, 4> launchers{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE", nullptr}},
    {"PMI", "PMI_RANK", {"PMI_SIZE", nullptr}},
    {"PMIx", "PMIX_RANK", {"PMIX_SIZE", "SLURM_NTASKS"}},
    {"Slurm", "SLURM_PROCID", {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}},
}};

std::optional<int> number(const program::Environment& environment, const char* name) {
  if (!name) return std::nullopt;
  const std::optional<std::string> text = environment(name);
  const std::optional<int> value = text ? read_whole_number(*text) : std::nullopt;
  return value && *value >= 0 ? value : std::nullopt;
}

/// The number of this run, as the launcher calls it.
std::string run_name(const program::Environment& environment) {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid"})
    if (const auto run = environment(name)) return *run;
  const auto job = environment("SLURM_JOB_ID");
  return job ? *job + "." + environment("SLURM_STEP_ID").value_or("") : "";
}

/// The port in PMIX_SERVER_URI: "pmix-server.70;tcp4://127.0.0.1:53419". Slurm's plugin for PMIx
/// ends the step when it loses a client; others do not.
int fatal_port(const program::Environment& environment) {
  if (!environment("PMIX_NAMESPACE").value_or("").starts_with("slurm.pmix")) return 0;
  for (const char* name :
       {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3", "PMIX_SERVER_URI2"})
    if (const auto uri = environment(name))
      return read_whole_number(std::string_view(*uri).substr(uri->rfind(':') + 1)).value_or(0);
  return 0;
}

}  // namespace

std::optional<World> find_world(const program::Environment& environment) {
  for (const Launcher& launcher : launchers) {
    const std::optional<int> rank = number(environment, launcher.rank);
    if (!rank) continue;
    for (const char* name : launcher.sizes) {
      const std::optional<int> size = number(environment, name);
      if (size && *size > *rank)
        return World{Rank{*rank}, *size, launcher.name,
                     std::string(launcher.name) + " " + run_name(environment) + " of " +
                         std::to_string(*size),
                     fatal_port(environment)};
    }
  }
  return std::nullopt;
}

}  // namespace px::engine
