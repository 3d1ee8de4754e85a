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

/// Tries all at the same time, for at most `patience`; the results have the same order.
std::vector<Dialed> dial_all(const std::vector<net::TcpTarget>& targets, Duration patience);

/// Asks this host; runs Python, mpiexec and similar programs, each for a few seconds at most. Tries
/// to write to the folders that a cluster writes to, and leaves no files there.
/// python, mpiexec  their paths; empty: those that a start would use.
/// profile          its folder, which need not exist; empty: it is not checked.
HostFacts gather_host_facts(const std::string& python, const std::string& mpiexec,
                            const std::filesystem::path& profile);

/// The problem of the folder of shared memory: "does not exist" ...; empty: none.
std::string shared_memory_error(const std::filesystem::path& folder);
/// Tries to write to a folder or, if it does not exist, to the one in which it would be made.
FolderFacts try_folder(const std::string& use, const std::filesystem::path& folder);

/// Reads a connection file of either side, connects to its ports and asks its controller.
FileFacts gather_file_facts(const std::filesystem::path& path);

/// The clusters that have files in this profile.
std::vector<ClusterFacts> gather_cluster_facts(const net::ProfilePaths& profile);

/// The targets of a connection file for other programs: its ports at each of its addresses; for a
/// controller that listens only on loopback these are its own.
std::vector<net::TcpTarget> targets_of(const std::filesystem::path& path);

/// Runs `pxcluster doctor` on another host through ssh. As for engines that ssh starts, the
/// environment of this host (VIRTUAL_ENV, CONDA_PREFIX) is used there too, if its folders exist
/// there.
/// program  that host's pxcluster.
RemoteFacts ask_remote(const std::string& host, const std::string& program,
                       const std::vector<std::string>& ssh,
                       const std::vector<net::TcpTarget>& targets);

}  // namespace px::cluster
