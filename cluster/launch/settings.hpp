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

/// How to start a cluster, from profiles and the command line. A value.
struct Settings {
  std::optional<int> n;              ///< Number of engines; not set: one for each core.
  std::string engines = "local";     ///< The launcher of the engines, in the user's spelling.
  std::string controller = "local";  ///< The launcher of the controller.
  std::vector<std::string> controller_args;
  /// Which tasks the controller records, pxcontroller's --journal; empty: its default.
  std::string journal;
  std::vector<std::string> engine_args;
  std::string
      language;  ///< The language of the engines, a LanguagePlan; empty: the engines' default.
  /// "auto", "none", or the number of GPUs for each engine: RankPlan::gpus.
  std::string gpus = "auto";
  /// Threads of libraries in each engine: $POLYXEUS_THREADS_PER_ENGINE; empty: not said.
  std::string threads_per_engine;
  std::vector<std::string> mpi_cmd{"mpiexec"};
  std::vector<std::string> mpi_args;        ///< Between `-n N` and the program.
  std::vector<std::string> controller_cmd;  ///< Empty: the pxcontroller next to this program.
  std::vector<std::string> engine_cmd;      ///< Empty: the pxengine next to this program.
  std::string ip;                           ///< Where the controller listens; empty: loopback.
  std::string location;                     ///< The name of the controller's host for others.
  double delay = 0;                         ///< Seconds between controller and engines.
  /// Seconds after which engines that have not registered are reported; nothing: 60, plus 1 for
  /// each engine.
  std::optional<double> engine_timeout = {};
  std::map<std::string, std::string> environment;  ///< For controller and engines.
  bool respawn = false;                            ///< Engines that die are started again.
  int respawn_limit = 10;                          ///< At most so many within a minute.

  // ---- engines on other hosts
  std::vector<HostSlots> hosts;                ///< On which ssh and mpiexec start engines.
  std::string hostfile;                        ///< A file that contains them.
  std::vector<std::string> engine_env;         ///< Lines of shell run before the engines.
  std::vector<std::string> remote_engine_cmd;  ///< The engine's command there; empty: engine_cmd.
  std::string remote_python;                   ///< The Python there that runs the user's code.
  std::string remote_profile_dir;              ///< There; relative to the home, or absolute.
  bool tunnel = false;  ///< Engines reach the controller through the ssh that starts them.
  std::vector<std::string> ssh_cmd{"ssh"};
  std::vector<std::string> ssh_args;

  // ---- batch systems
  std::string queue;                       ///< Slurm's partition.
  std::string account;                     ///< The account to charge.
  std::string qos;                         ///< Slurm's quality of service.
  std::string timelimit;                   ///< In the form of the batch system.
  std::vector<std::string> batch_options;  ///< Further lines for the batch system, without their
                                           ///< mark.
  std::string batch_template;              ///< The script itself, with {n}, {queue}, ...
  std::string batch_template_file;         ///< Or a file with it.
  std::map<std::string, std::string> batch_names;  ///< Further placeholders.
  std::vector<std::string> submit_command, delete_command;
  std::string job_id_regexp;
  std::string mpi_type;                ///< srun --mpi=; empty: pmix if srun has it.
  std::vector<std::string> srun_args;  ///< Further arguments of srun.
};

/// Whether the engines may be on other computers.
bool names_other_hosts(const Settings& settings);

/// A larger number of engines is treated as a typing error.
inline constexpr int max_engines = 65536;

/// A larger number of GPUs for one engine is treated as a typing error.
inline constexpr int max_gpus = 1024;

/// Nor are more engines started again within a minute.
inline constexpr int max_respawn_limit = 10'000;

/// Merges the members of a profile (an object) into `settings`. `source` names it in errors.
/// errors  bad_input: an unknown key (the message lists the known ones), or a wrong type.
Result<void> apply_profile(Settings& settings, const Json& profile, std::string_view source);

/// The key of a profile that corresponds to a trait of ipyparallel's Cluster or of one of its
/// launchers, e.g. "queue" for "SlurmEngineSetLauncher.queue"; empty: none.
std::string_view key_of_trait(std::string_view name);

/// Like apply_profile(), for an ipcluster_config.json: the traits of Cluster and of the supported
/// launchers, e.g. SSHEngineSetLauncher.engines or SlurmLauncher.account.
/// Returns the names of unknown ones, as "Cluster.load_profile".
/// errors  bad_input: a known trait has a wrong type.
Result<std::vector<std::string>> apply_ipcluster_config(Settings& settings, const Json& config,
                                                        std::string_view source);

/// Merges the value of --settings into `settings`: a JSON object whose members are those of a
/// profile, or classes of ipyparallel with their traits.
/// errors  bad_input: as apply_profile(); unsupported: a class or trait that has no counterpart.
Result<void> apply_settings_text(Settings& settings, std::string_view text);

}  // namespace px::cluster
