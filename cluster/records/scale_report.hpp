#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/discovery/profile_paths.hpp"
#include "os/processes.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

/// The signal that makes a pxcluster read its scale_order_file().
int scale_signal();

/// How many engines a user wants a set to have.
struct ScaleOrder {
  int least = 0;
  int most = 0;
  double idle_s = 30;   ///< How long an engine is without work before it ends.
  bool is_off = false;  ///< Stops scaling; the other members are ignored.
  bool operator==(const ScaleOrder&) const = default;
};

/// An engine that was started again because it had died.
struct RespawnedEngine {
  int id = -1;           ///< -1: it had not registered yet.
  int count = 0;         ///< How often.
  std::string why = {};  ///< How it ended the last time.
  bool operator==(const RespawnedEngine&) const = default;
};

/// The report of a pxcluster on the number of its engines. It writes it at its start, and each time
/// when something in it changes.
struct ScaleReport {
  std::string cluster_id;
  std::string engine_set;
  std::string birth = {};  ///< os::Processes::birth_of() that pxcluster.
  std::string host = {};   ///< Where it runs.
  bool owns_controller = true;
  int engines = 0;                  ///< Those that it has started and not ended.
  std::optional<ScaleOrder> scale;  ///< Nothing: their number is fixed.
  int orders = 0;                   ///< The number of orders so far.
  std::string problem = {};         ///< Why the last order was refused; empty: it was not.
  int respawn_limit = 0;            ///< Engines that it starts again within a minute; 0: none.
  std::vector<RespawnedEngine> respawned = {};
  int waiting = 0;  ///< Engines that have died, and wait because of the limit.
  bool operator==(const ScaleReport&) const = default;
};

/// <profile>/pid/pxcluster-<supervisor>.scale, until that pxcluster ends.
std::filesystem::path scale_report_file(const net::ProfilePaths& paths, int supervisor);
/// <profile>/pid/pxcluster-<supervisor>.scale-order; the pxcluster removes it after reading it.
std::filesystem::path scale_order_file(const net::ProfilePaths& paths, int supervisor);

/// errors  system: the file cannot be written.
Result<void> write_scale_order(const net::ProfilePaths& paths, int supervisor,
                               const ScaleOrder& order);
/// Nothing if there is none, or it cannot be read. The file is removed.
std::optional<ScaleOrder> take_scale_order(const net::ProfilePaths& paths, int supervisor);

Json write_scale_report(const ScaleReport& report);
/// Nothing if the text is not of that form.
std::optional<ScaleReport> read_scale_report(std::string_view text);

/// The reports about the cluster of the pxclusters that run on this host, by their pids.
std::vector<std::pair<int, ScaleReport>> scale_reports(const net::ProfilePaths& paths,
                                                       os::Processes& processes);

/// Removes the reports about the cluster that pxclusters of this host have left when they were
/// killed.
void remove_left_scale_reports(const net::ProfilePaths& paths, os::Processes& processes);

/// For people, one line for each thing: "0 to 8 engines, now 3; an engine without work for 30 s
/// ends".
std::string scale_as_text(const ScaleReport& report);

}  // namespace px::cluster
