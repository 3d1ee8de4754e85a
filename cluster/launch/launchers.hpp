#pragma once

#include "cluster/launch/launcher.hpp"
#include "cluster/remote/batch_system.hpp"

namespace px::cluster {

/// Each engine is a process of its own on this host; they know nothing of MPI.
class LocalLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "local"; }
  bool is_remote(const LaunchRequest&) const override { return false; }
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
};

/// All engines are the ranks of one `mpiexec -n N`; engine ids are MPI ranks.
class MpiLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "mpi"; }
  std::string_view recorded_name() const override { return name(); }
  bool is_remote(const LaunchRequest& request) const override;
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  /// Open MPI refuses to run as root, and more ranks than cores, unless it is told: this tells it,
  /// by variables that other MPIs ignore, and adds a note. Not where the user (by an argument or a
  /// variable) or a batch system says what hosts and slots there are.
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
};

/// Engines on hosts that ssh reaches: for each host one process here that starts them there and
/// watches over them (see watchers.hpp).
class SshLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "ssh"; }
  bool is_remote(const LaunchRequest& request) const override;
  /// errors  unsupported: a controller is not started by ssh.
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  /// errors  bad_input: no hosts; unsupported: no ssh here.
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
};

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
