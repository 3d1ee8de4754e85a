#pragma once

#include "cluster/launch/launcher.hpp"
#include "cluster/remote/batch_system.hpp"

namespace px::cluster {

/// Engines, and a controller if that is wanted, as jobs of a batch system; profiles/batch/ has how
/// each is spoken to. A process here submits the job and watches over it (see watchers.hpp).
/// Inside of an allocation of Slurm engines are the ranks of an `srun` here, and no job.
class BatchLauncher final : public Launcher {
 public:
  explicit BatchLauncher(std::string_view system) : system_(system) {}
  std::string_view name() const override { return system_; }
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;

 private:
  Result<BatchSystem> read_system(const Settings& settings, const Machine& machine) const;
  std::string system_;
};

/// What srun is to be told of MPI: --mpi=pmix for Open MPI, pmi2 for MPICH, as far as this Slurm
/// has them; empty: nothing.
std::string choose_mpi_type(const Settings& settings, const Machine& machine);

}  // namespace px::cluster
