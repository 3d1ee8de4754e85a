#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/engine_facts.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

// The facts that `pxcluster doctor` knows of a host, a connection file and leftover files, and its
// findings. Pure: doctor_facts.hpp gathers the facts.

/// The Python that would run engines.
struct PythonFacts {
  std::string path;      ///< Empty: none was found.
  std::string error;     ///< Why it could not be run; the following members are empty then.
  std::string version;   ///< "3.11.7"
  std::string polyxeus;  ///< The package's version; empty: it is not installed. The next two
                         ///< likewise.
  std::string ipython;
  std::string mpi4py;
  std::string mpi;        ///< The MPI of mpi4py: "Open MPI v4.1.4, ..."
  std::string mpi_error;  ///< Why mpi4py is installed and cannot be imported.
  /// Whether engines could interrupt calls of that MPI: "on", "off: why"; empty: unknown.
  std::string mpi_interrupts = {};
};

/// Limits in the unit of `ulimit`'s system call; -1: none.
struct LimitFacts {
  long long open_files = -1;  ///< The hard limit: our programs raise the soft one.
  long long processes = -1;
  long long locked_bytes = -1;
};

/// A folder to which programs of a cluster write.
struct FolderFacts {
  std::string use;    ///< "profile", "home" or "temporary files"
  std::string path;   ///< If it does not exist: the folder in which it would be made.
  std::string error;  ///< Why no file can be written there; empty: one can.
};

enum class DialState { open, refused, silent, unreachable };

/// The result of an attempt to connect.
struct Dialed {
  std::string address;
  int port = 0;
  DialState state = DialState::silent;
};

struct HostFacts {
  std::string host;
  std::vector<std::string> addresses;       ///< Of its interfaces, including loopback.
  std::vector<std::string> name_addresses;  ///< The addresses to which its own name resolves.
  std::string polyxeus;                     ///< The version of this program.
  std::string controller, engine;           ///< Paths of our programs; empty: not found.
  PythonFacts python;
  std::string mpiexec, mpiexec_version;  ///< Its path, and the line with its name.
  std::string mpiexec_wanted;            ///< The one that the user has chosen; empty: none.
  std::string mpiexec_error;             ///< Why its version is unknown.
  bool has_srun = false;
  std::vector<std::string> pmi;  ///< The output of `srun --mpi=list`.
  bool has_infiniband = false;
  int nvidia_gpus = 0, amd_gpus = 0;
  LimitFacts limits;
  long long shared_bytes = -1;  ///< Free in /dev/shm; -1: unknown.
  std::string shared_error;     ///< The problem of /dev/shm: "does not exist" ...
  std::vector<FolderFacts> folders;
  /// The folder or wheel from which pip can install this version; empty: unknown.
  std::string package_source;
  std::string cpp_error;  ///< Why the installed C++ engine cannot start.
  double unix_time = 0;
  std::vector<Dialed> dialed;  ///< The results of the attempts that another doctor requested.
};
Json write_host_facts(const HostFacts& facts);
/// errors  bad_input: not the output of write_host_facts().
Result<HostFacts> read_host_facts(const Json& json);

/// A connection file, and the results of connecting from here to its addresses.
struct FileFacts {
  std::string path;
  std::string profile_dir;  ///< The profile that contains it; empty: none.
  bool is_there = false;
  unsigned owner = 0, mode = 0, user = 0;
  std::string error;                    ///< Why it cannot be read.
  std::string location;                 ///< The host of its controller.
  bool is_own_host = false;             ///< Whether that is this host.
  std::vector<std::string> candidates;  ///< Addresses and names to try, best first.
  std::vector<std::string> unresolved;  ///< Those that are names and do not resolve.
  std::vector<Dialed> dialed;
  std::string tunnel;        ///< The ssh server that leads there, if one is needed.
  std::string tunnel_error;  ///< Why that server cannot be used.
  /// Whether the controller answered a signed question; nothing if it could not be asked.
  std::optional<bool> is_answered;
  std::vector<EngineFacts> engines, lost;  ///< Of the controller that has answered.
};

/// A cluster that runs according to its files.
struct ClusterFacts {
  std::string file;
  std::string profile_dir, cluster_id;
  std::string log;               ///< Its newest log; empty: it has none.
  int recorded = 0, living = 0;  ///< Processes.
};

enum class Severity { warning, error };

/// One problem.
struct Finding {
  Severity severity;
  std::string check;  ///< The check that found it: "python", "mpi", "port", ...; stable, for
                      ///< scripts.
  std::string what, why, fix;
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;
/// Adds a finding.
void add(Findings& findings, Severity severity, const char* check, std::string what,
         std::string why, std::string fix);

/// The findings about one host.  needs_mpi  whether mpiexec starts the engines.
Findings examine_host(const HostFacts& facts, bool needs_mpi);
Findings examine_file(const FileFacts& facts);
Findings examine_clusters(const std::vector<ClusterFacts>& clusters);

/// The hosts, except `own`, on which engines of these files' controllers run or were lost.
std::vector<std::string> hosts_of(const std::vector<FileFacts>& files, const std::string& own);

/// One check and its result if all is well: {"python", "/usr/bin/python3: Python 3.11.7"}.
struct Checked {
  std::string check, what;
};
std::vector<Checked> checks_of(const HostFacts& host, const std::vector<FileFacts>& files,
                               const std::vector<ClusterFacts>& clusters);

/// Another host that was asked through ssh.
struct RemoteFacts {
  std::string name;
  std::string error;  ///< Why it could not be asked.
  HostFacts facts;
  double asked_at = 0, answered_at = 0;  ///< Unix time here.
};
/// The problems of `host`, and its differences from this host.
Findings examine_remote(const RemoteFacts& remote, const HostFacts& here, bool needs_mpi);

/// The finding to report first: the first error, or otherwise the first warning.
const Finding* most_likely(const Findings& findings);

/// Whether `text` contains `part`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace px::cluster
