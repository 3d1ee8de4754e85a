#include "cluster/launch/installation.hpp"

#include <sched.h>
#include <unistd.h>

#include <set>

#include "os/cores.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"
#include "os/run_command.hpp"
#include "os/spawn.hpp"
#include "program/environment.hpp"
#include "program/find_python.hpp"

namespace px::cluster {
namespace {

std::optional<std::string> output_of(const std::vector<std::string>& argv) {
  const auto output = os::run_command({.argv = argv, .timeout = std::chrono::seconds(10)});
  if (!output) return std::nullopt;
  return output->output + output->errors;
}

std::optional<std::string> profile_file(const std::string& name) {
  const auto folder = profiles_folder();
  if (!folder) return std::nullopt;
  const auto text = os::read_file(*folder / name);
  return text ? std::optional(*text) : std::nullopt;
}

/// Logical and physical cores that this process may run on.
std::pair<int, int> count_cores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return {1, 1};
  std::set<std::string> physical;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const auto package = os::read_file(folder + "physical_package_id");
    const auto core = os::read_file(folder + "core_id");
    physical.insert(package && core ? *package + *core : std::to_string(cpu));
  }
  return {CPU_COUNT(&set), static_cast<int>(physical.size())};
}

}  // namespace

std::filesystem::path program_folder() {
  return std::filesystem::path(program::own_program()).parent_path();
}

Result<std::string> find_own_program(const std::string& name, const std::string& option) {
  const auto beside = program_folder() / name;
  if (program::is_program(beside)) return beside.string();
  if (const auto found = find_in_path(name)) return *found;
  return Error{ErrorKind::not_found, name + " is neither in " + program_folder().string() +
                                         " nor in PATH: name it with " + option};
}

std::optional<std::string> find_in_path(const std::string& name) {
  const std::string found = os::find_program(name);
  return found.empty() ? std::nullopt : std::optional(found);
}

std::vector<std::string> python_candidates(const std::string& wanted) {
  std::vector<std::string> paths;
  for (const program::PythonCandidate& each : program::python_candidates(
           wanted, program::process_environment(), program_folder().string(), program::is_program))
    paths.push_back(each.path);
  return paths;
}

std::optional<std::filesystem::path> profiles_folder() {
  if (const auto set = program::process_environment()("POLYXEUS_PROFILES")) return *set;
  const auto folder = program_folder();
  for (const auto& candidate : {folder / "../share/polyxeus/profiles", folder / "../../profiles"}) {
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate / "default.json", error))
      return candidate.lexically_normal();
  }
  return std::nullopt;
}

Machine this_machine() {
  const auto [logical, physical] = count_cores();
  return {.cores = logical,
          .physical_cores = physical,
          .core_quota = os::own_core_quota(),
          .is_root = ::geteuid() == 0,
          .pid = ::getpid(),
          .gpus = os::count_gpus(),
          .host = os::host_name(),
          .pxcluster = program::own_program(),
          .find_program = find_in_path,
          .output_of = output_of,
          .profile_file = profile_file,
          .variable = program::process_environment()};
}

}  // namespace px::cluster
