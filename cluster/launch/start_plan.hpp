#pragma once

#include <string>

#include "cluster/supervise/supervisor.hpp"

namespace px::cluster {

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
