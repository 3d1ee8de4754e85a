#pragma once

#include <functional>
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

/// All processes to start, and how long to wait for them.
struct StartPlan {
  std::optional<PlannedProcess> controller;  ///< Nothing: engines for a controller that already
                                             ///< runs.
  EnginePlan engines;
  std::string engine_set_id;
  std::string started_by;    ///< The user's name for the launcher of the engines.
  std::string engine_info;   ///< Without a controller: the text of the engines' file.
  ClusterRecord record;      ///< The content of the cluster file, without the processes.
  std::string client_file;   ///< For messages.
  int supervisor = 0;        ///< The pid of this program.
  int owner = 0;             ///< The pid of the process with which everything ends; 0: none.
  bool keeps_files = false;  ///< --reuse: the connection files outlive the controller.
  /// A controller that dies is restarted with its command and these arguments; empty: it is not
  /// restarted.
  std::vector<std::string> takes_over = {};
  /// Plans the processes of further engines, with the numbers from `first` on, which the set may
  /// get while it runs. errors  unsupported: this launcher cannot add any; the message says why.
  std::function<Result<std::vector<PlannedProcess>>(int first, int count)> plan_more = {};
  /// Engines that die are started again, at most so many within a minute; 0: they are not.
  int respawn_limit = 0;
  Duration delay{};
  Duration engine_timeout = std::chrono::seconds(60);
  Duration controller_timeout = std::chrono::seconds(60);
  Duration early = std::chrono::seconds(30);    ///< Engines that all end within this time have
                                                ///< failed.
  Duration patience = std::chrono::seconds(5);  ///< Between SIGTERM and SIGKILL.
  /// At a restart, for processes of this host: the usual reason for it is that engines hang.
  Duration restart_patience = std::chrono::seconds(1);
};

/// The number of engines to start: the user's number, or that of the languages, or one for each
/// slot of the hosts, or for each core.  errors  bad_input: they contradict each other, or the
/// languages cannot be read.
Result<int> choose_engine_count(const Settings& settings, int cores);

/// The plan of `start` (or `engines`): the processes, the timeouts, the record.
/// set_id  the id of the new engine set.
/// errors  as Launcher::plan_controller, plan_engines and find_launcher.
Result<StartPlan> make_start_plan(const LaunchRequest& asked, bool engines_only,
                                  const Machine& machine);

/// Launcher::plan_more() of the launcher of `request`, of which make_start_plan() has planned the
/// start.  errors  as there.
Result<std::vector<PlannedProcess>> plan_more_engines(const LaunchRequest& request, int first,
                                                      int count, const Machine& machine);

/// Whether these arguments make a controller reuse the connection files that it finds.
bool keeps_connection_files(const std::vector<std::string>& controller_args);

/// Whether the text of an engines' connection file contains only loopback addresses.
bool listens_on_loopback_only(std::string_view engine_info);

/// "1792048000", or "1792048000-1" ... if `taken` already contains that.
std::string new_engine_set_id(long long unix_seconds,
                              const std::map<std::string, RecordedEngineSet>& taken);

/// How to connect to the cluster, and how to stop it; some lines for people.
/// is_default_folder  the profile is in the default folder.
std::string how_to_connect(const net::ProfilePaths& paths, bool is_default_folder, bool is_daemon);
/// Like how_to_connect(), for the cells of a notebook.  language  "python" or "cpp"
std::string how_to_connect_cells(const net::ProfilePaths& paths, bool is_default_folder,
                                 const std::string& language);

/// Whether the log `name` belongs to the cluster, so that a new start may remove it.
bool is_log_of_cluster(std::string_view name, std::string_view cluster_id);

}  // namespace px::cluster
