#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/records/placed_engine.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// The signal by which a pxcluster is asked to restart the engines that it supervises: those of
/// restart_order_file(), or all.
int restart_signal();

/// The signal by which a pxcluster hears that its owner's end is no longer its own.
int release_signal();

/// What a pxcluster tells those who ask it to restart its engines.
struct RestartReport {
  int restarts = 0;      ///< How many it has done; the rest is about the last one.
  int engine_count = 0;  ///< So many registered again.
  std::string problem;   ///< Why not all did; empty: all did.
  bool operator==(const RestartReport&) const = default;
};

/// <profile>/pid/pxcluster-<supervisor>.restarts: there from the first restart to the end of that
/// pxcluster.
std::filesystem::path restart_report_file(const net::ProfilePaths& paths, int supervisor);

/// <profile>/pid/pxcluster-<supervisor>.restart: which engines that pxcluster is to restart; it
/// removes the file when it has read it.
std::filesystem::path restart_order_file(const net::ProfilePaths& paths, int supervisor);
/// engines  of these sets and numbers; empty: the order is withdrawn.
/// errors   system: the file cannot be written.
Result<void> write_restart_order(const net::ProfilePaths& paths, int supervisor,
                                 const std::vector<PlacedEngine>& engines);
/// The engines of the order; empty where there is none. It is removed.
std::vector<PlacedEngine> take_restart_order(const net::ProfilePaths& paths, int supervisor);

std::string write_restart_report(const RestartReport& report);
/// The report of the pxcluster `supervisor`; nothing where it has written none.
std::optional<RestartReport> read_restart_report(const net::ProfilePaths& paths, int supervisor);

}  // namespace px::cluster
