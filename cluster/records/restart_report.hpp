#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cluster/records/placed_engine.hpp"
#include "net/discovery/profile_paths.hpp"
#include "wire/error.hpp"

namespace px::cluster {

/// The signal that asks a pxcluster to restart the engines that it supervises: those of
/// restart_order_file(), or all.
int restart_signal();

/// The signal that tells a pxcluster not to end with its owner.
int release_signal();

/// The report of a pxcluster to programs that ask it to restart its engines.
struct RestartReport {
  int restarts = 0;      ///< The number of restarts so far; the rest is about the last one.
  int engine_count = 0;  ///< The number of engines that registered again.
  std::string problem;   ///< Why some did not; empty: all did.
  bool operator==(const RestartReport&) const = default;
};

/// <profile>/pid/pxcluster-<supervisor>.restarts: exists from the first restart to the end of that
/// pxcluster.
std::filesystem::path restart_report_file(const net::ProfilePaths& paths, int supervisor);

/// <profile>/pid/pxcluster-<supervisor>.restart: the engines that this pxcluster must restart; it
/// removes the file after reading it.
std::filesystem::path restart_order_file(const net::ProfilePaths& paths, int supervisor);
/// engines  of these sets and numbers; empty: the order is withdrawn.
/// errors   system: the file cannot be written.
Result<void> write_restart_order(const net::ProfilePaths& paths, int supervisor,
                                 const std::vector<PlacedEngine>& engines);
/// The engines of the order; empty if there is none. The order is removed.
std::vector<PlacedEngine> take_restart_order(const net::ProfilePaths& paths, int supervisor);

std::string write_restart_report(const RestartReport& report);
/// The report of the pxcluster `supervisor`; nothing if it has written none.
std::optional<RestartReport> read_restart_report(const net::ProfilePaths& paths, int supervisor);

}  // namespace px::cluster
