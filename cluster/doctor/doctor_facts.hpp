#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cluster/doctor/doctor.hpp"
#include "net/discovery/profile_paths.hpp"
#include "net/tcp.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// How long a port may take to answer.
inline constexpr Duration dial_patience = std::chrono::seconds(3);

/// Tries all at the same time, for at most `patience`; the results are in the same order.
std::vector<Dialed> dial_all(const std::vector<net::TcpTarget>& targets, Duration patience);

/// Asks this host; runs Python, mpiexec and the like, each for a few seconds at most. Tries to
/// write to the folders that a cluster writes to, and leaves nothing there. python, mpiexec  which
/// ones; empty: those that a start would take. profile          its folder, which need not be
/// there; empty: it is not asked for.
HostFacts gather_host_facts(const std::string& python, const std::string& mpiexec,
                            const std::filesystem::path& profile);

/// What is wrong with the folder of shared memory: "does not exist" ...; empty: nothing.
std::string shared_memory_error(const std::filesystem::path& folder);
/// Tries to write to a folder or, where it is not there, to the one in which it would be made.
FolderFacts try_folder(const std::string& use, const std::filesystem::path& folder);

/// Reads a connection file of either side, dials its ports and asks its controller.
FileFacts gather_file_facts(const std::filesystem::path& path);

/// The clusters that have files in this profile.
std::vector<ClusterFacts> gather_cluster_facts(const net::ProfilePaths& profile);

/// What others dial of a connection file: its ports at each of its addresses, which for a
/// controller that listens on loopback alone are their own.
std::vector<net::TcpTarget> targets_of(const std::filesystem::path& path);

/// Asks `pxcluster doctor` on another host through ssh. As with engines that ssh starts, the
/// environment of this host (VIRTUAL_ENV, CONDA_PREFIX) counts there too, where it is there.
/// program  that host's pxcluster.
RemoteFacts ask_remote(const std::string& host, const std::string& program,
                       const std::vector<std::string>& ssh,
                       const std::vector<net::TcpTarget>& targets);

}  // namespace px::cluster
