#pragma once

#include "cluster/launch/launcher.hpp"
#include "cluster/remote/batch_system.hpp"

namespace px::cluster {

/// Each engine is a separate process on this host; the engines do not use MPI.
class LocalLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "local"; }
  bool is_remote(const LaunchRequest&) const override { return false; }
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
  Result<std::vector<PlannedProcess>> plan_more(const LaunchRequest& request, int first, int count,
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
  /// Open MPI refuses to run as root, and to run more ranks than cores, unless variables allow it:
  /// this function sets them (other MPIs ignore them) and adds a note. It does not do so if the
  /// user (by an argument or a variable) or a batch system defines hosts and slots.
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
  Result<std::vector<PlannedProcess>> plan_more(const LaunchRequest& request, int first, int count,
                                                const Machine& machine) const override;
};

/// Engines on hosts that ssh reaches: for each host one process on this host that starts and
/// watches them (see watchers.hpp).
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
  Result<std::vector<PlannedProcess>> plan_more(const LaunchRequest& request, int first, int count,
                                                const Machine& machine) const override;
};

/// Engines, and optionally a controller, as jobs of a batch system; profiles/batch/ describes each
/// batch system. A process on this host submits the job and watches it (see watchers.hpp). Inside
/// an allocation of Slurm the engines are the ranks of an `srun` on this host, and not a job.
class BatchLauncher final : public Launcher {
 public:
  explicit BatchLauncher(std::string_view system) : system_(system) {}
  std::string_view name() const override { return system_; }
  Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                         const Machine& machine) const override;
  Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                  const Machine& machine) const override;
  Result<std::vector<PlannedProcess>> plan_more(const LaunchRequest& request, int first, int count,
                                                const Machine& machine) const override;

 private:
  Result<BatchSystem> read_system(const Settings& settings, const Machine& machine) const;
  std::string system_;
};

/// The --mpi argument of srun: pmix for Open MPI, pmi2 for MPICH, if this Slurm has them; empty:
/// none.
std::string choose_mpi_type(const Settings& settings, const Machine& machine);

}  // namespace px::cluster
