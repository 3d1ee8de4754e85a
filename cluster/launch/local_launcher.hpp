#pragma once

#include "cluster/launch/launcher.hpp"

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

}  // namespace px::cluster
