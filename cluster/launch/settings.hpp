#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launch/host_list.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// How a cluster is to be started, as profiles and the command line say it. A value.
struct Settings {
  std::optional<int> n;              ///< Engines; not said = one for each core.
  std::string engines = "local";     ///< The launcher of the engines, as the user wrote it.
  std::string controller = "local";  ///< The launcher of the controller.
  std::vector<std::string> controller_args;
  /// Which tasks the controller writes down, pxcontroller's --journal; empty = its default.
  std::string journal;
  std::vector<std::string> engine_args;
  std::string
      language;  ///< What the engines speak, as a LanguagePlan; empty = the engines' default.
  /// "auto", "none", or how many GPUs each engine gets: RankPlan::gpus.
  std::string gpus = "auto";
  /// Threads of libraries in each engine: $POLYXEUS_THREADS_PER_ENGINE; empty: not said.
  std::string threads_per_engine;
  std::vector<std::string> mpi_cmd{"mpiexec"};
  std::vector<std::string> mpi_args;        ///< Between `-n N` and the program.
  std::vector<std::string> controller_cmd;  ///< Empty = the pxcontroller beside this program.
  std::vector<std::string> engine_cmd;      ///< Empty = the pxengine beside this program.
  std::string ip;                           ///< Where the controller listens; empty = loopback.
  std::string location;                     ///< What others call the controller's host.
  double delay = 0;                         ///< Seconds between controller and engines.
  /// Seconds until missing engines are reported; nothing: 60, and one for each engine.
  std::optional<double> engine_timeout = {};
  std::map<std::string, std::string> environment;  ///< For controller and engines.

  // ---- engines on other hosts
  std::vector<HostSlots> hosts;                ///< Where ssh and mpiexec start engines.
  std::string hostfile;                        ///< A file that says it.
  std::vector<std::string> engine_env;         ///< Lines of shell before the engines.
  std::vector<std::string> remote_engine_cmd;  ///< The engine's command there; empty = engine_cmd.
  std::string remote_python;                   ///< The Python there that runs the user's code.
  std::string remote_profile_dir;              ///< There; relative to the home, or absolute.
  bool tunnel = false;  ///< Engines reach the controller through the ssh that starts them.
  std::vector<std::string> ssh_cmd{"ssh"};
  std::vector<std::string> ssh_args;

  // ---- batch systems
  std::string queue;                       ///< Slurm's partition.
  std::string account;                     ///< Who pays.
  std::string qos;                         ///< Slurm's quality of service.
  std::string timelimit;                   ///< As the batch system writes it.
  std::vector<std::string> batch_options;  ///< More lines for the batch system, without their mark.
  std::string batch_template;              ///< The script itself, with {n}, {queue}, ...
  std::string batch_template_file;         ///< Or a file with it.
  std::map<std::string, std::string> batch_names;  ///< More placeholders.
  std::vector<std::string> submit_command, delete_command;
  std::string job_id_regexp;
  std::string mpi_type;                ///< srun --mpi=; empty: pmix where srun has it.
  std::vector<std::string> srun_args;  ///< More for srun.
};

/// Whether the engines may be somewhere else than on this computer.
bool names_other_hosts(const Settings& settings);

/// More engines than this are taken for a slip of the finger.
inline constexpr int max_engines = 65536;

/// More GPUs than this for one engine are taken for a slip of the finger.
inline constexpr int max_gpus = 1024;

/// Lays the members of a profile (an object) over `settings`. `source` names it in errors.
/// errors  bad_input: a key that nobody knows (the known ones are listed), or a wrong type.
Result<void> apply_profile(Settings& settings, const Json& profile, std::string_view source);

/// The key of a profile that a trait of ipyparallel's Cluster or of one of its launchers is here,
/// e.g. "queue" for "SlurmEngineSetLauncher.queue"; empty: none.
std::string_view key_of_trait(std::string_view name);

/// The same for an ipcluster_config.json: the traits of Cluster and of the launchers that we have,
/// e.g. SSHEngineSetLauncher.engines or SlurmLauncher.account.
/// Returns the names of those that are not understood, as "Cluster.load_profile".
/// errors  bad_input: a trait that is known has a wrong type.
Result<std::vector<std::string>> apply_ipcluster_config(Settings& settings, const Json& config,
                                                        std::string_view source);

/// Lays over `settings` what --settings says: a JSON object whose members are those of a profile,
/// or classes of ipyparallel with their traits.
/// errors  bad_input: as apply_profile(); unsupported: a class or trait that has no counterpart.
Result<void> apply_settings_text(Settings& settings, std::string_view text);

}  // namespace px::cluster
