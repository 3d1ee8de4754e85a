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

/// Information about the computer for a launcher.
struct Machine {
  int cores = 1;           ///< Logical ones that this process may use.
  int physical_cores = 1;  ///< The number that Open MPI counts as slots.
  /// Processor time that this process may use, in cores; nothing if it has no limit.
  std::optional<double> core_quota = {};
  bool is_root = false;
  int pid = 0;  ///< Of this process: a part of the names of some log files.
  os::GpuCount gpus = {};
  std::string host = {};                ///< This computer's own name.
  std::string pxcluster = "pxcluster";  ///< The path of this program.
  /// The path of the program `name`; nothing if it is neither a path to one nor in $PATH.
  std::function<std::optional<std::string>(const std::string& name)> find_program;
  /// The output of a short command, on stdout and stderr; nothing if it cannot be run.
  std::function<std::optional<std::string>(const std::vector<std::string>& argv)> output_of;
  /// A file that comes with polyxeus: "batch/slurm.json".
  std::function<std::optional<std::string>(const std::string& name)> profile_file;
  /// The environment variable `name`, if it is set.
  std::function<std::optional<std::string>(const std::string& name)> variable;
};

/// A request to a launcher.
struct LaunchRequest {
  Settings settings;  ///< With controller_cmd and engine_cmd filled in.
  net::ProfilePaths paths;
  std::string engine_set_id;
  int engine_count = 0;
  std::vector<int> rank_ports = {};  ///< The result of choose_rank_ports().
};

/// A way to start processes. Pure: it returns a plan, which other code executes.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// "local": in cluster-<id>.json.
  virtual std::string_view name() const = 0;
  /// The launcher that cluster-<id>.json records, so that ipcluster can stop the processes. Usually
  /// "local", because pxcluster itself starts only processes of this host.
  virtual std::string_view recorded_name() const { return "local"; }
  /// Whether the engines may be on other hosts, so that loopback is not sufficient.
  virtual bool is_remote(const LaunchRequest&) const { return true; }
  /// Plans the controller.  errors  unsupported: a required program is missing; the message names
  /// it.
  virtual Result<PlannedProcess> plan_controller(const LaunchRequest& request,
                                                 const Machine& machine) const = 0;
  /// Plans request.engine_count engines.  errors  as above.
  virtual Result<EnginePlan> plan_engines(const LaunchRequest& request,
                                          const Machine& machine) const = 0;
  /// Plans `count` further engines of a set that has the numbers below `first`: each of them can be
  /// started and ended without the others.
  /// errors  as above; unsupported: it cannot be done with this launcher; the message says why.
  virtual Result<std::vector<PlannedProcess>> plan_more(const LaunchRequest& request, int first,
                                                        int count,
                                                        const Machine& machine) const = 0;
};

/// The names of the launchers, as users write them: "local", "mpi" ...
const std::vector<std::string>& launcher_names();

/// The launcher that a user names: "local", "mpi" in any case, ipyparallel's class names
/// (LocalEngineSetLauncher, MPIControllerLauncher, ...), "polyxeus", "polyxeus-mpi".
/// errors  bad_input: unknown; unsupported: ipyparallel has it, polyxeus does not. The message
///         lists the available ones.
Result<std::unique_ptr<Launcher>> find_launcher(std::string_view name);

/// The common variables of all launchers: IPP_CLUSTER_ID, IPP_PROFILE_DIR and the settings' own
/// variables.
std::map<std::string, std::string> cluster_environment(const LaunchRequest& request);

/// Sets a variable in `environment`, unless the user has set it there or on this host. Returns
/// whether it is set by this call.
bool set_default(std::map<std::string, std::string>& environment, const std::string& name,
                 const std::string& value, const Machine& machine);

/// `controller_cmd --ip=... --location=... --journal=... controller_args`.
std::vector<std::string> controller_argv(const LaunchRequest& request);

/// log/ipcontroller[-<cluster_id>]-<our pid>.log
std::filesystem::path controller_log(const LaunchRequest& request, const Machine& machine);

/// `argv` with the language of engine `index`, if settings.language contains one.
/// errors  bad_input: it cannot be read.
Result<std::vector<std::string>> with_language(std::vector<std::string> argv,
                                               const std::string& language, int index);

/// log/ipengine-<cluster_id>-<engine_set_id>-<index>, without its extension.
std::filesystem::path engine_log_stem(const LaunchRequest& request, int index);

/// errors  unsupported: `argv[0]` cannot be found; `what` describes it.
Result<void> check_program(const std::vector<std::string>& argv, std::string_view what,
                           const Machine& machine);

}  // namespace px::cluster
