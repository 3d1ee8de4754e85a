#pragma once

#include "cluster/launch/launcher.hpp"

namespace px::cluster {

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

}  // namespace px::cluster
