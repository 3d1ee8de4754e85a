#include "cluster/doctor/doctor_facts.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "cluster/launch/installation.hpp"
#include "cluster/launch/mpi_kind.hpp"
#include "cluster/launch/start_plan.hpp"
#include "cluster/records/record_file.hpp"
#include "cluster/remote/ssh_plan.hpp"
#include "net/discovery/address.hpp"
#include "os/descriptor.hpp"
#include "os/gpus.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "os/run_command.hpp"
#include "os/written_file.hpp"
#include "program/program.hpp"

namespace px::cluster {
namespace {

using std::chrono::seconds;

/// What the user's Python says of itself, as JSON.
constexpr std::string_view questions = R"(
import json, platform, importlib.metadata as m
def version(name):
    try:
        return m.version(name)
    except m.PackageNotFoundError:
        try:
            return getattr(__import__(name), "__version__", "unknown")
        except Exception:
            return ""
said = {"version": platform.python_version()}
for name in ("polyxeus", "ipython", "mpi4py"):
    said[name] = version(name if name != "ipython" else "IPython")
if said["mpi4py"]:
    try:
        import mpi4py
        mpi4py.rc.initialize = mpi4py.rc.finalize = False
        from mpi4py import MPI
        said["mpi"] = MPI.Get_library_version().strip("\0 \n").splitlines()[0]
    except BaseException as error:
        said["mpi_error"] = str(error)[:300]
    try:
        from polyxeus.engine.mpi import find_steps
        path, why = find_steps("openmpi" if "Open MPI" in said["mpi"] else "mpich")
        said["mpi_interrupts"] = "on" if path else "off: " + why
    except (ImportError, KeyError):
        pass
print("\n" + json.dumps(said))
)";

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

std::string own_program(const std::string& name) {
  const auto found = find_own_program(name, "");
  return found ? *found : "";
}

PythonFacts ask_this_python(const std::string& path) {
  PythonFacts facts;
  facts.path = path;
  const auto done =
      os::run_command({.argv = {facts.path, "-c", std::string(questions)}, .timeout = seconds(20)});
  if (!done) {
    facts.error = done.error().what;
    return facts;
  }
  const Result<Json> said = unpack(Packer::json, last_line(done->output));
  if (!said) {
    facts.error = done->errors.empty() ? "it printed nothing" : last_line(done->errors);
    return facts;
  }
  const auto text = [&](const char* key) { return string_member(*said, key).value_or(""); };
  facts.version = text("version");
  facts.polyxeus = text("polyxeus");
  facts.ipython = text("ipython");
  facts.mpi4py = text("mpi4py");
  facts.mpi = text("mpi");
  facts.mpi_error = text("mpi_error");
  facts.mpi_interrupts = text("mpi_interrupts");
  return facts;
}

/// The one that pxengine takes: the first that has the package; else the first of all.
PythonFacts ask_python(const std::string& wanted) {
  std::optional<PythonFacts> first;
  for (const std::string& candidate : python_candidates(wanted)) {
    PythonFacts facts = ask_this_python(candidate);
    if (!facts.polyxeus.empty()) return facts;
    if (!first) first = std::move(facts);
  }
  return first.value_or(PythonFacts{});
}

/// The line in which an mpiexec says whose it is.
/// errors  why it does not, as a part of a sentence.
Result<std::string> ask_mpiexec(const std::string& program) {
  const auto done = os::run_command({.argv = {program, "--version"}, .timeout = seconds(10)});
  if (!done) return done.error();
  std::istringstream lines(done->output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (first.empty()) first = line;
    if (read_mpi_kind(line) != MpiKind::unknown) return line;
  }
  if (done->end.is_failure() || first.empty())
    return Error{ErrorKind::system,
                 "`" + program + " --version` " +
                     (done->end.is_failure() ? done->end.text() : "prints nothing")};
  return first;
}

std::vector<std::string> ask_srun(const std::string& program) {
  const auto done = os::run_command({.argv = {program, "--mpi=list"}, .timeout = seconds(10)});
  std::vector<std::string> kinds;
  if (!done || done->end.is_failure()) return kinds;  // no Slurm behind it
  std::istringstream words(done->output + " " + done->errors);
  for (std::string word; words >> word;)
    if (word.find(':') == std::string::npos) kinds.push_back(word);
  return kinds;
}

long long hard_limit(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_max == RLIM_INFINITY) return -1;
  return static_cast<long long>(limit.rlim_max);
}

long long shared_memory() {
  struct statvfs state{};
  if (::statvfs("/dev/shm", &state) != 0) return -1;
  return static_cast<long long>(state.f_bavail) * static_cast<long long>(state.f_frsize);
}

std::string ask_cpp_engine() {
  const auto program = find_own_program("pxengine-cpp", "");
  if (!program) return "";  // it is not a part of every installation
  const auto done = os::run_command({.argv = {*program, "--version"}, .timeout = seconds(10)});
  if (!done) return done.error().what;
  return done->end.is_failure() ? last_line(done->errors) : "";
}

/// The arguments of `env` on another host.
std::vector<std::string> questions_to_another(const std::string& program,
                                              const std::vector<net::TcpTarget>& targets) {
  std::vector<std::string> words;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* folder = std::getenv(name); folder && *folder)
      words.push_back(std::string(name) + "=" + folder);
  words.insert(words.end(), {program, "doctor", "--facts"});
  std::string dial;
  for (const net::TcpTarget& target : targets)
    dial += (dial.empty() ? "" : ",") + target.address + "/" + std::to_string(target.port);
  if (!dial.empty()) words.push_back("--dial=" + dial);
  return words;
}

/// The folder or wheel that this installation was made from (PEP 610), or the source tree.
std::string package_source() {
  std::error_code error;
  const auto is_there = [&](const std::string& path) {
    return !path.empty() && std::filesystem::exists(path, error);
  };
  const std::filesystem::path lib = program_folder().parent_path() / "lib";
  for (const auto& python : std::filesystem::directory_iterator(lib, error)) {
    const auto record = python.path() / "site-packages" /
                        ("polyxeus-" + program::program_version() + ".dist-info") /
                        "direct_url.json";
    const Result<std::string> text = os::read_file(record);
    const Result<Json> origin = text ? unpack(Packer::json, *text) : Result<Json>(text.error());
    std::string path = origin ? string_member(*origin, "url").value_or("") : "";
    path = path.starts_with("file://") ? path.substr(7) : "";
    if (is_there(path)) return path;
  }
  const auto profiles = profiles_folder();
  const auto tree = profiles ? profiles->parent_path() : std::filesystem::path{};
  return is_there((tree / "pyproject.toml").string()) ? tree.string() : "";
}

std::string environment_or(const char* name, const std::string& otherwise) {
  const char* const value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// Why no file of 1 MiB, as much as a small log, can be written; empty: it can.
std::string write_error(const std::filesystem::path& place) {
  const auto why = [] { return std::string(std::strerror(errno)); };
  const std::string probe = (place / (".pxdoctor-" + std::to_string(::getpid()))).string();
  const os::Descriptor file{::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!file.is_open()) return why();
  ::unlink(probe.c_str());
  if (!os::write_all(file.value(), std::string(1 << 20, '\0'))) return why();
  return ::fsync(file.value()) == 0 || errno == EINVAL ? "" : why();
}

/// The log of a cluster that was written last; empty: it has none.
std::string newest_log(const net::ProfilePaths& paths) {
  std::error_code error;
  std::filesystem::path newest;
  std::filesystem::file_time_type latest{};
  for (const auto& entry : std::filesystem::directory_iterator(paths.log(), error)) {
    if (!is_log_of_cluster(entry.path().filename().string(), paths.cluster_id)) continue;
    const auto written = entry.last_write_time(error);
    if (!newest.empty() && written <= latest) continue;
    newest = entry.path();
    latest = written;
  }
  return newest.string();
}

std::vector<FolderFacts> ask_folders(const std::filesystem::path& profile) {
  std::vector<FolderFacts> folders;
  const auto look = [&](const char* use, const std::filesystem::path& path) {
    if (!path.empty()) folders.push_back(try_folder(use, path));
  };
  look("profile", profile);
  look("home", environment_or("HOME", ""));
  look("temporary files", environment_or("TMPDIR", "/tmp"));
  return folders;
}

double unix_now() {
  return std::chrono::duration<double>(wall_now().time_since_epoch()).count();
}

}  // namespace

FolderFacts try_folder(const std::string& use, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path place = folder;
  while (!std::filesystem::exists(place, error) && place.has_relative_path())
    place = place.parent_path();
  return {use, place.string(), write_error(place)};
}

std::string shared_memory_error(const std::filesystem::path& folder) {
  struct statfs state{};
  if (::statfs(folder.c_str(), &state) != 0) return "does not exist";
  constexpr long tmpfs = 0x01021994;  // TMPFS_MAGIC
  if (state.f_type != tmpfs) return "is a folder on a disk, as no tmpfs is mounted there";
  return ::access(folder.c_str(), W_OK) == 0 ? "" : "is not writable";
}

HostFacts gather_host_facts(const std::string& python, const std::string& mpiexec,
                            const std::filesystem::path& profile) {
  HostFacts facts;
  facts.host = os::host_name();
  facts.addresses = net::local_addresses();
  facts.name_addresses = net::resolve_host(facts.host);
  facts.polyxeus = program::program_version();
  facts.controller = own_program("pxcontroller");
  facts.engine = own_program("pxengine");
  facts.python = ask_python(python);
  facts.mpiexec = find_in_path(mpiexec.empty() ? "mpiexec" : mpiexec).value_or("");
  facts.mpiexec_wanted = mpiexec == "mpiexec" ? "" : mpiexec;
  if (!facts.mpiexec.empty()) {
    const Result<std::string> version = ask_mpiexec(facts.mpiexec);
    if (version)
      facts.mpiexec_version = *version;
    else
      facts.mpiexec_error = version.error().what;
  }
  if (const auto srun = find_in_path("srun")) {
    facts.has_srun = true;
    facts.pmi = ask_srun(*srun);
  }
  std::error_code error;
  const os::GpuCount gpus = os::count_gpus();
  facts.nvidia_gpus = gpus.nvidia;
  facts.amd_gpus = gpus.amd;
  facts.has_infiniband = std::filesystem::exists("/dev/infiniband", error);
  facts.limits = {hard_limit(RLIMIT_NOFILE), hard_limit(RLIMIT_NPROC), hard_limit(RLIMIT_MEMLOCK)};
  facts.shared_bytes = shared_memory();
  facts.shared_error = shared_memory_error("/dev/shm");
  facts.folders = ask_folders(profile);
  facts.package_source = package_source();
  facts.cpp_error = ask_cpp_engine();
  facts.unix_time = unix_now();
  return facts;
}

std::vector<ClusterFacts> gather_cluster_facts(const net::ProfilePaths& profile) {
  os::LocalProcesses processes;
  const auto count = [](const ClusterRecord& record) {
    return static_cast<int>(record.engine_pids().size()) + (record.controller ? 1 : 0);
  };
  std::vector<ClusterFacts> clusters;
  for (const std::string& id : recorded_cluster_ids(profile)) {
    const net::ProfilePaths paths{profile.root, id};
    if (const auto found = load_cluster(paths, processes))
      clusters.push_back({paths.cluster_file().string(), profile.root.string(), id,
                          newest_log(paths), count(found->record), count(found->living)});
  }
  return clusters;
}

RemoteFacts ask_remote(const std::string& host, const std::string& program,
                       const std::vector<std::string>& ssh,
                       const std::vector<net::TcpTarget>& targets) {
  RemoteFacts remote;
  remote.name = host;
  std::vector<std::string> command = ssh;
  command.insert(command.end(),
                 {"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "--", host, "env"});
  for (const std::string& word : questions_to_another(program, targets))
    command.push_back(shell_quoted(word));
  remote.asked_at = unix_now();
  const auto done = os::run_command({.argv = command, .timeout = seconds(60)});
  remote.answered_at = unix_now();
  const auto facts = [&]() -> Result<HostFacts> {
    if (!done) return done.error();
    const Result<Json> said = unpack(Packer::json, last_line(done->output));
    if (!said)
      return Error{ErrorKind::bad_input, done->errors.empty() ? "its answer has an unknown format"
                                                              : last_line(done->errors)};
    return read_host_facts(*said);
  }();
  if (facts)
    remote.facts = *facts;
  else
    remote.error = facts.error().what;
  return remote;
}

}  // namespace px::cluster
