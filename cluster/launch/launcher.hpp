#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launch/planned_process.hpp"
#include "cluster/launch/settings.hpp"
#include "net/discovery/profile_paths.hpp"
#include "os/gpus.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// What a launcher may ask about the computer that it starts processes on.
struct Machine {
  int cores = 1;           ///< Logical ones that this process may use.
  int physical_cores = 1;  ///< What Open MPI counts as slots.
  std::optional<double> core_quota = {};  ///< Processor time that this process may use, in cores.
  bool is_root = false;
  int pid = 0;                          ///< Of this process: part of some names of log files.
  os::GpuCount gpus = {};
  std::string host = {};                ///< What this computer calls itself.
  std::string pxcluster = "pxcluster";  ///< The path of this program.
  /// Where the program `name` is; nothing if it is neither a path to one nor in $PATH.
  std::function<std::optional<std::string>(const std::string& name)> find_program;
  /// What a short command prints, on stdout and stderr; nothing where it cannot be run.
  std::function<std::optional<std::string>(const std::vector<std::string>& argv)> output_of;
  /// A file that comes with polyxeus: "batch/slurm.json".
  std::function<std::optional<std::string>(const std::string& name)> profile_file;
  /// The environment variable `name`, if it is set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

/// What a launcher is asked to start.
struct LaunchRequest {
  Settings settings;  ///< With controller_cmd and engine_cmd filled in.
  net::ProfilePaths paths;
  std::string engine_set_id;
  int engine_count = 0;
  std::vector<int> rank_ports = {};  ///< As choose_rank_ports() says.
};

/// A way to start processes. Pure: it says what to start, somebody else does it.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// "local": in cluster-<id>.json.
  virtual std::string_view name() const = 0;
  /// What to call it in cluster-<id>.json, so that ipcluster can stop it: what it starts are
  /// processes of this computer.
  virtual std::string_view recorded_name() const { return "local"; }
  /// Whether the engines may be on other hosts, so that loopback is not enough.
  virtual bool is_remote(const LaunchRequest&) const { return true; }
  /// The controller.  errors  unsupported: a program that is needed is missing; names it.
  virtual Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                                 const Machine& machine) const = 0;
  /// request.engine_count engines.  errors  as above.
  virtual Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                          const Machine& machine) const = 0;
};

/// The names of the launchers, as users write them: "local", "mpi" ...
const std::vector<std::string>& launcher_names();

/// The launcher that a user calls `name`: "local", "mpi" in any case, ipyparallel's class names
/// (LocalEngineSetLauncher, MPIControllerLauncher, ...), "polyxeus", "polyxeus-mpi".
/// errors  bad_input: nobody knows it; unsupported: ipyparallel has it, we do not. Lists ours.
Result<std::unique_ptr<Launcher>> find_launcher(std::string_view name);

/// What all launchers share: IPP_CLUSTER_ID, IPP_PROFILE_DIR and the settings' own variables.
std::map<std::string, std::string> cluster_environment(const LaunchRequest& request);

/// `controller_cmd --ip=... --location=... --journal=... controller_args`.
std::vector<std::string> controller_argv(const LaunchRequest& request);

/// log/ipcontroller[-<cluster_id>]-<our pid>.log
std::filesystem::path controller_log(const LaunchRequest& request, const Machine& machine);

/// `argv` and the language of engine `index`, where settings.language says one.
/// errors  bad_input: it cannot be read.
Result<std::vector<std::string>> with_language(std::vector<std::string> argv,
                                               const std::string& language, int index);

/// log/ipengine-<cluster_id>-<engine_set_id>-<index>, without its end.
std::filesystem::path engine_log_stem(const LaunchRequest& request, int index);

/// errors  unsupported: `argv[0]` cannot be found; `what` says whose it is.
Result<void> check_program(const std::vector<std::string>& argv, std::string_view what,
                           const Machine& machine);

}  // namespace px::cluster
