#include <algorithm>
#include <map>
#include <set>

#include "client/place_text.hpp"
#include "cluster/doctor/doctor.hpp"
#include "cluster/launch/mpi_kind.hpp"
#include "wire/counted.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// Nine connections for each engine, some for clients and files.
constexpr long long descriptors_of_engine = 9, few_descriptors = 1024;
constexpr long long few_processes = 512;
constexpr long long little_shared_memory = 256ll << 20;  // containers have 64 MiB
constexpr long long little_locked_memory = 64ll << 20;

void examine_programs(const HostFacts& facts, Findings& findings) {
  for (const auto& [name, path] :
       {std::pair{"pxcontroller", facts.controller}, {"pxengine", facts.engine}})
    if (path.empty())
      add(findings, Severity::error, "programs",
          std::string(name) + " is neither in the folder of pxcluster nor in PATH",
          "no cluster can be started without it",
          "install polyxeus into one environment and call its pxcluster, or add the folder of " +
              std::string(name) + " to PATH");
  if (!facts.cpp_error.empty())
    add(findings, Severity::error, "cpp", "the C++ engine cannot start: " + facts.cpp_error,
        "engines with --language=cpp need the libraries of LLVM at run time",
        holds(facts.cpp_error, "libclang-cpp") || holds(facts.cpp_error, "libLLVM")
            ? "install libclang-cpp22 and libllvm22 (the packages of your system)"
            : "install the missing library");
}

/// How this version of the package comes into a Python.
std::string how_to_install(const HostFacts& facts) {
  if (!facts.package_source.empty())
    return facts.python.path + " -m pip install '" + facts.package_source + "'";
  return "name a Python that has it with --python, or install polyxeus " + facts.polyxeus +
         " from the same source as this program: " + facts.python.path +
         " -m pip install FOLDER_OR_WHEEL";
}

void examine_python(const HostFacts& facts, Findings& findings) {
  const PythonFacts& python = facts.python;
  const std::string& polyxeus = facts.polyxeus;
  if (python.path.empty())
    return add(findings, Severity::error, "python", "no Python was found",
               "Python engines need a Python",
               "activate your environment ($VIRTUAL_ENV or $CONDA_PREFIX), or name a Python with "
               "--python");
  if (!python.error.empty())
    return add(findings, Severity::error, "python", python.path + " does not run: " + python.error,
               "Python engines run in it",
               "repair that environment, or name another Python with --python");
  if (python.polyxeus.empty())
    add(findings, Severity::error, "polyxeus", python.path + " has no package polyxeus",
        "Python engines need this package", how_to_install(facts));
  else if (!polyxeus.empty() && python.polyxeus != polyxeus)
    add(findings, Severity::warning, "polyxeus",
        "the package polyxeus of " + python.path + " is " + python.polyxeus + ", this program is " +
            polyxeus,
        "programs of different versions may not work together", how_to_install(facts));
  if (python.ipython.empty())
    add(findings, Severity::error, "ipython", python.path + " has no IPython",
        "a Python engine runs its cells in IPython and cannot start without it",
        python.path + " -m pip install ipython");
}

void examine_mpi(const HostFacts& facts, bool needs_mpi, Findings& findings) {
  const PythonFacts& python = facts.python;
  if (!facts.mpiexec_wanted.empty() && facts.mpiexec.empty())
    add(findings, Severity::error, "mpiexec",
        "there is no program " + facts.mpiexec_wanted + ", which was named as mpiexec",
        "--engines=mpi would start the engines with it",
        "name the one that `which mpiexec` finds with --mpi-cmd, or leave the option out");
  else if (!facts.mpiexec_wanted.empty() && !facts.mpiexec_error.empty())
    add(findings, Severity::error, "mpiexec",
        facts.mpiexec + " does not work as an mpiexec: " + facts.mpiexec_error,
        "--engines=mpi would start the engines with it",
        "name the mpiexec of Open MPI or MPICH with --mpi-cmd, or leave the option out");
  else if (!facts.mpiexec_wanted.empty() &&
           read_mpi_kind(facts.mpiexec_version) == MpiKind::unknown)
    add(findings, Severity::warning, "mpiexec",
        facts.mpiexec + " does not look like an mpiexec: it says '" + facts.mpiexec_version + "'",
        "--engines=mpi would start the engines with it",
        "name the mpiexec of Open MPI or MPICH with --mpi-cmd, or leave the option out");
  else if (needs_mpi && facts.mpiexec.empty())
    add(findings, Severity::error, "mpiexec", "no mpiexec is in PATH",
        "--engines=mpi starts the engines with it",
        "install Open MPI or MPICH, load its module (module load openmpi), or name it with "
        "--mpi-cmd");
  if (!python.mpi_error.empty())
    add(findings, Severity::error, "mpi4py",
        "mpi4py is installed but cannot be imported: " + python.mpi_error,
        "cells that use MPI fail",
        python.path +
            " -m pip install --force-reinstall --no-binary mpi4py mpi4py, with the MPI of your "
            "mpiexec loaded");
  if (needs_mpi && python.mpi4py.empty() && python.error.empty() && !python.path.empty())
    add(findings, Severity::warning, "mpi4py", python.path + " has no mpi4py",
        "the engines start, but cells cannot use MPI", python.path + " -m pip install mpi4py");
  if (needs_mpi && python.mpi_interrupts.starts_with("off: polyxeus was built without"))
    add(findings, Severity::warning, "mpi",
        "MPI calls of engines cannot be interrupted: " + python.mpi_interrupts.substr(5),
        "if one rank fails, the others wait in MPI until the engines are restarted",
        "install the compiler of this MPI (mpicc), then polyxeus from source: " +
            how_to_install(facts));
  const std::string library(name_of(read_mpi_kind(python.mpi)));
  const std::string starter(name_of(read_mpi_kind(facts.mpiexec_version)));
  if (!library.empty() && !starter.empty() && library != starter)
    add(findings, Severity::error, "mpi",
        "mpi4py is built for " + library + ", but " + facts.mpiexec + " belongs to " + starter,
        "each engine would be rank 0 of an MPI world of one process",
        "put the mpiexec of " + library + " first in PATH or name it with --mpi-cmd (mpiexec." +
            (library == "Open MPI" ? "openmpi" : "hydra") +
            " if both are installed), or build mpi4py with " + starter);
  if (!facts.has_srun || library.empty()) return;
  const std::string needed = library == "Open MPI" ? "pmix" : "pmi2";
  const bool has_it = std::any_of(facts.pmi.begin(), facts.pmi.end(), [&](const std::string& kind) {
    return kind.starts_with(needed) || (needed == "pmi2" && kind.starts_with("cray"));
  });
  if (!has_it && !facts.pmi.empty())
    add(findings, Severity::warning, "pmi", "this srun does not offer " + needed,
        library + " engines that srun starts would each be rank 0 of an MPI world of one process",
        "build Slurm with " + needed + ", or start the engines with mpiexec in the job");
}

void examine_network(const HostFacts& facts, Findings& findings) {
  if (facts.name_addresses.empty())
    return add(findings, Severity::warning, "name",
               "the name of this host, " + facts.host + ", does not resolve",
               "other hosts can use only the addresses in the connection file",
               "add a line with an address of this host and " + facts.host + " to /etc/hosts");
  const bool is_own = std::any_of(
      facts.name_addresses.begin(), facts.name_addresses.end(), [&](const std::string& address) {
        return address.starts_with("127.") || address == "::1" ||
               std::find(facts.addresses.begin(), facts.addresses.end(), address) !=
                   facts.addresses.end();
      });
  if (!is_own)
    add(findings, Severity::error, "name",
        "the name of this host, " + facts.host + ", resolves to " + facts.name_addresses.front() +
            ", which is not an address of this host",
        "a program that connects by this name reaches another host",
        "correct the line of " + facts.host +
            " in /etc/hosts or in the name service, or start "
            "with --location and an address of this host");
}

void examine_limits(const HostFacts& facts, Findings& findings) {
  const LimitFacts& limits = facts.limits;
  if (limits.open_files >= 0 && limits.open_files < few_descriptors)
    add(findings, Severity::warning, "limits",
        "a process may open " + std::to_string(limits.open_files) + " files and sockets",
        "the controller needs nine for each engine: about " +
            std::to_string(limits.open_files / descriptors_of_engine) + " engines",
        "raise the hard limit: add the line `* hard nofile 65536` to /etc/security/limits.conf as "
        "root, and log in again");
  if (limits.processes >= 0 && limits.processes < few_processes)
    add(findings, Severity::warning, "limits",
        "this user may have " + std::to_string(limits.processes) + " processes and threads",
        "an engine has about ten threads, plus those of NumPy",
        "raise the limit (ulimit -u, or nproc in /etc/security/limits.conf), or set "
        "OMP_NUM_THREADS=1");
  if (facts.has_infiniband && limits.locked_bytes >= 0 &&
      limits.locked_bytes < little_locked_memory)
    add(findings, Severity::warning, "limits",
        "a process may lock " + std::to_string(limits.locked_bytes >> 10) + " KiB of memory",
        "MPI over InfiniBand locks its buffers in memory and fails with a low limit",
        "ulimit -l unlimited, or memlock in /etc/security/limits.conf");
  if (!facts.shared_error.empty())
    add(findings, Severity::error, "shm", "/dev/shm " + facts.shared_error,
        "MPI uses it for messages between ranks of one host",
        "as root: mkdir -p /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm");
  else if (facts.shared_bytes >= 0 && facts.shared_bytes < little_shared_memory)
    add(findings, Severity::warning, "shm",
        "/dev/shm has " + std::to_string(facts.shared_bytes >> 20) + " MiB free",
        "arrays that do not fit are written to files on a disk, which is slower; when it is full, "
        "MPI ranks on this host crash with a bus error",
        "remove old files from it, or enlarge it (containers: --shm-size=1g)");
}

/// What is wrong with the home is often wrong with the profile: told once.
void examine_folders(const HostFacts& facts, Findings& findings) {
  const auto is_bad_home = [](const FolderFacts& folder) {
    return folder.use == "home" && !folder.error.empty();
  };
  const bool is_home_bad = std::any_of(facts.folders.begin(), facts.folders.end(), is_bad_home);
  std::vector<std::string> told;
  for (const FolderFacts& folder : facts.folders) {
    if (folder.error.empty() || std::find(told.begin(), told.end(), folder.error) != told.end())
      continue;
    told.push_back(folder.error);
    const bool is_full = holds(folder.error, "No space") || holds(folder.error, "quota") ||
                         holds(folder.error, "too large");
    const bool is_temporary = folder.use == "temporary files";
    add(findings, Severity::error, "folders",
        "no file can be written to " + folder.path + " (" + folder.use + "): " + folder.error,
        is_temporary ? "MPI and the engines keep files there while they run"
                     : "connection files, logs and the history of cells are written there",
        is_full ? "remove files there (`du -sh " + folder.path +
                      "` shows how much they take), or have your quota raised"
        : is_temporary ? "export TMPDIR=/var/tmp"
        : is_home_bad  ? "mkdir -p /var/tmp/$(id -un) && export HOME=/var/tmp/$(id -un)"
                       : "export IPYTHONDIR=/var/tmp/$(id -un)-ipython");
  }
}

std::string limit_text(long long limit, const std::string& thing) {
  return (limit < 0 ? "no limit of " : std::to_string(limit) + " ") + thing;
}

std::string mpi_text(const HostFacts& facts) {
  const std::string starter =
      facts.mpiexec.empty() ? "no mpiexec" : facts.mpiexec + " (" + facts.mpiexec_version + ")";
  if (facts.python.mpi4py.empty()) return starter + ", no mpi4py";
  const std::string& interrupts = facts.python.mpi_interrupts;
  return starter + ", mpi4py " + facts.python.mpi4py + " of " +
         facts.python.mpi.substr(0, facts.python.mpi.find(',')) +
         (interrupts.empty() ? "" : "; interrupts of MPI calls: " + interrupts);
}

std::string records_text(std::size_t count) {
  if (count == 0) return "no cluster on record";
  if (count == 1) return "1 cluster on record, and it runs";
  return std::to_string(count) + " clusters on record, all run";
}

std::string file_text(const FileFacts& file) {
  if (!file.tunnel.empty()) return file.path + ": the controller answers through " + file.tunnel;
  if (file.is_answered == true) return file.path + ": the controller answers";
  return file.path + ": " + counted(file.dialed.size(), "port") + " dialled";
}

/// "2 GPUs of NVIDIA"
std::string gpus_text(const HostFacts& host) {
  std::string text;
  for (const auto& [count, maker] :
       {std::pair{host.nvidia_gpus, "NVIDIA"}, std::pair{host.amd_gpus, "AMD"}})
    if (count > 0)
      text += (text.empty() ? "" : ", ") + std::to_string(count) +
              (count == 1 ? " GPU of " : " GPUs of ") + maker;
  return text;
}

/// "; GPU 0 on gpu1: 1 engine, GPU 1 on gpu1: 1 engine"; empty where no engine has one.
std::string engine_gpus_text(const FileFacts& file) {
  std::map<std::string, std::size_t> counts;
  for (const EngineFacts& engine : file.engines)
    if (!engine.gpus.empty()) ++counts["GPU " + engine.gpus + " on " + engine.host];
  std::string text;
  for (const auto& [gpus, count] : counts)
    text += (text.empty() ? "; " : ", ") + gpus + ": " + counted(count, "engine");
  return text;
}

/// "4 engines; interrupts of MPI calls: on (Open MPI v4.1.4)"
std::string engines_text(const FileFacts& file) {
  std::set<std::string> interrupts;
  for (const EngineFacts& engine : file.engines)
    if (!engine.mpi_interrupts.empty())
      interrupts.insert("; " + client::interrupts_text(engine.mpi, engine.mpi_interrupts));
  std::string text = counted(file.engines.size(), "engine") +
                     (file.engines.size() == 1 ? " is there" : " are there");
  for (const std::string& each : interrupts) text += each;
  return text + engine_gpus_text(file);
}

}  // namespace

void add(Findings& findings, Severity severity, const char* check, std::string what,
         std::string why, std::string fix) {
  findings.push_back({severity, check, std::move(what), std::move(why), std::move(fix)});
}

Findings examine_host(const HostFacts& facts, bool needs_mpi) {
  Findings findings;
  examine_programs(facts, findings);
  examine_python(facts, findings);
  examine_mpi(facts, needs_mpi, findings);
  examine_network(facts, findings);
  examine_limits(facts, findings);
  examine_folders(facts, findings);
  return findings;
}

Findings examine_clusters(const std::vector<ClusterFacts>& clusters) {
  Findings findings;
  for (const ClusterFacts& cluster : clusters)
    if (cluster.living < cluster.recorded)
      add(findings, Severity::warning, "leftover",
          cluster.file + " names " + std::to_string(cluster.recorded) +
              (cluster.recorded == 1 ? " process, and " : " processes, and ") +
              std::to_string(cluster.living) + (cluster.living == 1 ? " runs" : " run"),
          "the cluster crashed or was killed and left files behind" +
              (cluster.log.empty() ? "" : "; its newest log is " + cluster.log),
          cluster.living > 0 ? "pxcluster stop --profile-dir='" + cluster.profile_dir +
                                   "' --cluster-id='" + cluster.cluster_id + "'"
                             : "pxcluster clean --profile-dir='" + cluster.profile_dir + "'");
  return findings;
}

std::vector<Checked> checks_of(const HostFacts& host, const std::vector<FileFacts>& files,
                               const std::vector<ClusterFacts>& clusters) {
  std::vector<Checked> checks;
  checks.push_back({"programs", host.controller + ", " + host.engine});
  checks.push_back({"python", host.python.path + ": Python " + host.python.version + ", polyxeus " +
                                  host.python.polyxeus + ", IPython " + host.python.ipython});
  checks.push_back({"mpi", mpi_text(host)});
  if (const std::string gpus = gpus_text(host); !gpus.empty()) checks.push_back({"gpus", gpus});
  checks.push_back({"name", host.host + " is " + join(host.name_addresses, ", ")});
  checks.push_back({"limits", limit_text(host.limits.open_files, "open files") + ", " +
                                  limit_text(host.limits.processes, "processes")});
  checks.push_back({"shm", std::to_string(host.shared_bytes >> 20) + " MiB free in /dev/shm"});
  std::vector<std::string> folders;
  for (const FolderFacts& folder : host.folders)
    folders.push_back(folder.path + " (" + folder.use + ")");
  checks.push_back({"folders", "writable: " + join(folders, ", ")});
  if (files.empty()) checks.push_back({"file", "no connection file in this profile"});
  for (const FileFacts& file : files) checks.push_back({"file", file_text(file)});
  for (const FileFacts& file : files)
    if (!file.engines.empty()) checks.push_back({"engines", engines_text(file)});
  checks.push_back({"leftover", records_text(clusters.size())});
  return checks;
}

const Finding* most_likely(const Findings& findings) {
  const auto error = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.severity == Severity::error;
  });
  if (error != findings.end()) return &*error;
  return findings.empty() ? nullptr : &findings.front();
}

}  // namespace px::cluster
