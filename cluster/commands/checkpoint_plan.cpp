#include <algorithm>
#include <array>
#include <string_view>

#include "cluster/commands/options.hpp"
#include "cluster/launch/installation.hpp"
#include "cluster/supervise/checkpoint_runner.hpp"
#include "program/find_python.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// Those whose jobs tell clients when they end; see batch_systems.py.
constexpr std::array<std::string_view, 5> systems{"slurm", "pbs", "torque", "lsf", "sge"};

/// Which option lacks another one; nothing: none.
std::optional<std::string> what_is_missing(const StartCheckpointOptions& options,
                                           const std::string& engines) {
  const bool has_signal = !options.on.empty(), outlives = !options.on_walltime.empty();
  if (has_signal && options.path.empty())
    return "--checkpoint-on needs --checkpoint-path: a folder that all engines share";
  if (!options.path.empty() && !has_signal && !outlives)
    return "--checkpoint-path needs --checkpoint-on or --on-walltime";
  if (!options.names.empty() && !has_signal && !outlives)
    return "--checkpoint-names needs --checkpoint-on or --on-walltime";
  if (!options.save_before.empty() && !outlives) return "--save-before needs --on-walltime";
  if (outlives && std::find(systems.begin(), systems.end(), engines) == systems.end())
    return "--on-walltime needs engines in a job of Slurm, PBS, LSF or Grid Engine: add "
           "--engines=slurm, pbs, torque, lsf or sge";
  return std::nullopt;
}

std::string names_of(const StartCheckpointOptions& options) {
  return "--names=" + join(options.names, ",");
}

}  // namespace

Result<CheckpointPlan> plan_checkpoints(const StartCheckpointOptions& options,
                                        const net::ProfilePaths& paths,
                                        const std::string& engines) {
  if (const auto missing = what_is_missing(options, engines))
    return Error{ErrorKind::bad_input, *missing};
  const std::string program = this_machine().pxcluster;
  const std::string folder = "--profile-dir=" + paths.root.string();
  const std::string id = "--cluster-id=" + paths.cluster_id;
  const std::string path =
      options.path.empty() ? "" : std::filesystem::absolute(options.path).string();
  const auto log_file = [&](const std::string& name) {
    return paths.log() / (name + (paths.cluster_id.empty() ? "" : "-" + paths.cluster_id) + ".log");
  };
  CheckpointPlan plan;
  plan.log_file = log_file("checkpoint");
  plan.restore_argv = {program, "checkpoint", "restore", "--same-engines", folder, id};
  if (!options.on.empty()) {
    plan.signal = *signal_by_name(options.on);
    plan.argv = {program, "checkpoint", "create", path, "--keep-last=2", folder, id};
    if (!options.names.empty()) plan.argv.push_back(names_of(options));
  }
  if (options.on_walltime.empty()) return plan;
  const std::string module = "polyxeus.client.walltime";
  const auto python = program::find_python("", "", "polyxeus/client", module);
  if (!python) return python.error();
  plan.walltime_log_file = log_file("walltime");
  plan.walltime_argv = {*python, "-m", module, folder, id};
  if (!options.names.empty()) plan.walltime_argv.push_back(names_of(options));
  if (!path.empty()) plan.walltime_argv.push_back("--path=" + path);
  if (!options.save_before.empty())
    plan.walltime_argv.push_back("--save-before=" + options.save_before);
  return plan;
}

}  // namespace px::cluster
