#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "wire/engine_facts.hpp"
#include "wire/error.hpp"
#include "wire/json.hpp"

namespace px::cluster {

// What `pxcluster doctor` knows of a host, of a connection file and of what was left behind, and
// what it makes of that. Pure: doctor_facts.hpp gathers.

/// The Python that would run engines.
struct PythonFacts {
  std::string path;      ///< Empty: none was found.
  std::string error;     ///< Why it could not be asked; then what follows is empty.
  std::string version;   ///< "3.11.7"
  std::string polyxeus;  ///< The version of the package; empty: it has none. So the next two.
  std::string ipython;
  std::string mpi4py;
  std::string mpi;        ///< What mpi4py is bound to: "Open MPI v4.1.4, ..."
  std::string mpi_error;  ///< Why mpi4py is there and cannot be imported.
  /// Whether engines could interrupt calls of that MPI: "on", "off: why"; empty: it does not say.
  std::string mpi_interrupts = {};
};

/// Limits in the unit of `ulimit`'s system call; -1 = none.
struct LimitFacts {
  long long open_files = -1;  ///< The hard limit: our programs raise the soft one.
  long long processes = -1;
  long long locked_bytes = -1;
};

/// A folder to which programs of a cluster write.
struct FolderFacts {
  std::string use;    ///< "profile", "home" or "temporary files"
  std::string path;   ///< Where it is not there: the folder in which it would be made.
  std::string error;  ///< Why no file can be written there; empty: one can.
};

enum class DialState { open, refused, silent, unreachable };

/// What became of an attempt to connect.
struct Dialed {
  std::string address;
  int port = 0;
  DialState state = DialState::silent;
};

struct HostFacts {
  std::string host;
  std::vector<std::string> addresses;       ///< Of its interfaces, loopback among them.
  std::vector<std::string> name_addresses;  ///< What its own name resolves to.
  std::string polyxeus;                     ///< The version of this program.
  std::string controller, engine;           ///< Paths of our programs; empty: not found.
  PythonFacts python;
  std::string mpiexec, mpiexec_version;  ///< Its path, and the first line that says who it is.
  std::string mpiexec_wanted;            ///< The one that the user has named; empty: none.
  std::string mpiexec_error;             ///< Why it does not say its version.
  bool has_srun = false;
  std::vector<std::string> pmi;  ///< What `srun --mpi=list` says.
  bool has_infiniband = false;
  int nvidia_gpus = 0, amd_gpus = 0;
  LimitFacts limits;
  long long shared_bytes = -1;  ///< Free in /dev/shm; -1: unknown.
  std::string shared_error;     ///< What is wrong with /dev/shm: "does not exist" ...
  std::vector<FolderFacts> folders;
  /// The folder or wheel from which pip can install this version; empty: unknown.
  std::string package_source;
  std::string cpp_error;  ///< Why the C++ engine that is there cannot start.
  double unix_time = 0;
  std::vector<Dialed> dialed;  ///< What it was asked to try.
};
Json write_host_facts(const HostFacts& facts);
/// errors  bad_input: not what write_host_facts() writes.
Result<HostFacts> read_host_facts(const Json& json);

/// A connection file, and what happens when its addresses are dialled from here.
struct FileFacts {
  std::string path;
  std::string profile_dir;  ///< The profile in which it is; empty: it is elsewhere.
  bool is_there = false;
  unsigned owner = 0, mode = 0, user = 0;
  std::string error;                    ///< Why it cannot be read.
  std::string location;                 ///< The host of its controller.
  bool is_own_host = false;             ///< That is this host.
  std::vector<std::string> candidates;  ///< Addresses and names to try, best first.
  std::vector<std::string> unresolved;  ///< Names among them that nobody knows.
  std::vector<Dialed> dialed;
  std::string tunnel;        ///< The ssh server that leads there, where one is needed.
  std::string tunnel_error;  ///< Why it does not.
  /// Whether the controller answered a signed question; nothing where nobody could be asked.
  std::optional<bool> is_answered;
  std::vector<EngineFacts> engines, lost;  ///< Of the controller that has answered.
};

/// A cluster whose files say that it runs.
struct ClusterFacts {
  std::string file;
  std::string profile_dir, cluster_id;
  std::string log;               ///< Its newest log; empty: it has none.
  int recorded = 0, living = 0;  ///< Processes.
};

enum class Severity { warning, error };

/// One thing that is wrong.
struct Finding {
  Severity severity;
  std::string check;  ///< Which check found it: "python", "mpi", "port", ...; stable, for scripts.
  std::string what, why, fix;
  bool operator==(const Finding&) const = default;
};
using Findings = std::vector<Finding>;
/// One more of them.
void add(Findings& findings, Severity severity, const char* check, std::string what,
         std::string why, std::string fix);

/// Of one host.  needs_mpi  engines are to be started by mpiexec.
Findings examine_host(const HostFacts& facts, bool needs_mpi);
Findings examine_file(const FileFacts& facts);
Findings examine_clusters(const std::vector<ClusterFacts>& clusters);

/// The hosts, other than `own`, on which engines of these files' controllers run or were lost.
std::vector<std::string> hosts_of(const std::vector<FileFacts>& files, const std::string& own);

/// One check and what it has seen where all is well: {"python", "/usr/bin/python3: Python 3.11.7"}.
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
/// What `host` alone has, and what does not fit this host.
Findings examine_remote(const RemoteFacts& remote, const HostFacts& here, bool needs_mpi);

/// The one to tell a person first: the first error, else the first warning.
const Finding* most_likely(const Findings& findings);

/// Whether `part` stands somewhere in `text`.
inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace px::cluster
