#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/launch/launcher.hpp"
#include "cluster/records/cluster_record.hpp"
#include "wire/error.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// All that is to be started, and how patient to be.
struct StartPlan {
  std::optional<PlannedProcess> controller;  ///< Nothing: engines for one that runs already.
  EnginePlan engines;
  std::string engine_set_id;
  std::string started_by;    ///< What the user calls the launcher of the engines.
  std::string engine_info;   ///< Without a controller: the text of the engines' file.
  ClusterRecord record;      ///< What to write into the cluster file, without the processes.
  std::string client_file;   ///< For texts.
  int supervisor = 0;        ///< The pid of this program.
  int owner = 0;             ///< The pid of the process with which all ends; 0: nobody's.
  bool keeps_files = false;  ///< --reuse: the connection files outlive the controller.
  /// A controller that dies is started again by its command and these words; empty: it is not.
  std::vector<std::string> takes_over = {};
  Duration delay{};
  Duration engine_timeout = std::chrono::seconds(60);
  Duration controller_timeout = std::chrono::seconds(60);
  Duration early = std::chrono::seconds(30);    ///< Engines that all end within it have failed.
  Duration patience = std::chrono::seconds(5);  ///< Between SIGTERM and SIGKILL.
  /// At a restart, for processes of this host: engines that hang are the reason for it.
  Duration restart_patience = std::chrono::seconds(1);
};

/// How many engines to start: as many as the user says, or as the languages say, or one for each
/// slot of the hosts, or for each core.  errors  bad_input: they contradict each other, or the
/// languages cannot be read.
Result<int> choose_engine_count(const Settings& settings, int cores);

/// What `start` (or `engines`) is to do: which processes, how patient, what to write down.
/// set_id  the id of the new engine set.
/// errors  as Launcher::plan_controller, plan_engines and find_launcher.
Result<StartPlan> make_start_plan(const LaunchRequest& asked, bool engines_only,
                                  const Machine& machine);

/// Whether these arguments make a controller keep to the connection files that it finds.
bool keeps_connection_files(const std::vector<std::string>& controller_args);

/// Whether the text of an engines' connection file names no address but loopback's.
bool listens_on_loopback_only(std::string_view engine_info);

/// "1792048000", or "1792048000-1" ... where `taken` has that already.
std::string new_engine_set_id(long long unix_seconds,
                              const std::map<std::string, RecordedEngineSet>& taken);

/// How to connect to the cluster, and how to stop it; some lines for a person.
/// is_default_folder  the profile lies in the folder where everybody looks for it.
std::string how_to_connect(const net::ProfilePaths& paths, bool is_default_folder, bool is_daemon);
/// The same for the cells of a notebook.  language  "python" or "cpp"
std::string how_to_connect_cells(const net::ProfilePaths& paths, bool is_default_folder,
                                 const std::string& language);

/// Whether the log `name` is one of the cluster's, so that a new start may remove it.
bool is_log_of_cluster(std::string_view name, std::string_view cluster_id);

}  // namespace px::cluster
