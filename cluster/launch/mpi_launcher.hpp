#pragma once

#include "cluster/launch/launcher.hpp"

namespace px::cluster {

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

}  // namespace px::cluster
