#include "cluster/launch/launcher.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "cluster/launch/launchers.hpp"
#include "wire/language_plan.hpp"
#include "wire/nearest_name.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

/// "ipyparallel.cluster.launcher.MPIEngineSetLauncher" -> "mpi".
std::string normalised(std::string_view name) {
  std::string text(name.substr(name.find_last_of(".:") + 1));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view end : {"enginesetlauncher", "controllerlauncher", "enginelauncher"})
    if (text.ends_with(end)) {
      text.resize(text.size() - end.size());
      break;
    }
  return text;
}

constexpr std::array foreign_names{"batch", "sshproxy", "winhpc"};
const std::vector<std::string> our_names{"local",  "mpi", "ssh", "slurm",   "pbs",
                                         "torque", "sge", "lsf", "htcondor"};

std::string supported() {
  return "; supported: " + join(our_names, ", ");
}

}  // namespace

const std::vector<std::string>& launcher_names() {
  return our_names;
}

Result<std::unique_ptr<Launcher>> find_launcher(std::string_view name) {
  const std::string key = normalised(name);
  if (key == "local" || key == "polyxeus" || key == "polyxeus-local")
    return std::unique_ptr<Launcher>(std::make_unique<LocalLauncher>());
  if (key == "mpi" || key == "mpiexec" || key == "polyxeus-mpi" || key == "polyxeusmpi")
    return std::unique_ptr<Launcher>(std::make_unique<MpiLauncher>());
  if (key == "ssh" || key == "polyxeus-ssh")
    return std::unique_ptr<Launcher>(std::make_unique<SshLauncher>());
  for (const std::string_view system : {"slurm", "pbs", "torque", "sge", "lsf", "htcondor"})
    if (key == system || key == "polyxeus-" + std::string(system))
      return std::unique_ptr<Launcher>(std::make_unique<BatchLauncher>(system));
  if (std::find(foreign_names.begin(), foreign_names.end(), key) != foreign_names.end())
    return Error{ErrorKind::unsupported, "pxcluster does not support the launcher '" +
                                             std::string(name) + "'" + supported() +
                                             "; or use ipcluster with --controller=polyxeus"};
  const std::string meant = did_you_mean(key, our_names);
  return Error{ErrorKind::bad_input, "unknown launcher '" + std::string(name) + "'" +
                                         (meant.empty() ? supported() : meant)};
}

std::map<std::string, std::string> cluster_environment(const LaunchRequest& request) {
  std::map<std::string, std::string> environment = request.settings.environment;
  environment["IPP_CLUSTER_ID"] = request.paths.cluster_id;
  environment["IPP_PROFILE_DIR"] = request.paths.root.string();
  return environment;
}

bool set_default(std::map<std::string, std::string>& environment, const std::string& name,
                 const std::string& value, const Machine& machine) {
  if (environment.contains(name) || machine.variable(name)) return false;
  environment[name] = value;
  return true;
}

std::vector<std::string> controller_argv(const LaunchRequest& request) {
  const Settings& settings = request.settings;
  std::vector<std::string> argv = settings.controller_cmd;
  if (!settings.ip.empty()) argv.push_back("--ip=" + settings.ip);
  if (!settings.location.empty()) argv.push_back("--location=" + settings.location);
  if (!settings.journal.empty()) argv.push_back("--journal=" + settings.journal);
  argv.insert(argv.end(), settings.controller_args.begin(), settings.controller_args.end());
  return argv;
}

std::filesystem::path controller_log(const LaunchRequest& request, const Machine& machine) {
  const std::string& id = request.paths.cluster_id;
  return request.paths.log() / ("ipcontroller" + (id.empty() ? "" : "-" + id) + "-" +
                                std::to_string(machine.pid) + ".log");
}

Result<std::vector<std::string>> with_language(std::vector<std::string> argv,
                                               const std::string& language, int index) {
  if (language.empty()) return argv;
  const Result<LanguagePlan> plan = LanguagePlan::parse(language);
  if (!plan) return plan.error();
  const Result<Language> own = plan->of(index);
  if (!own) return own.error();
  argv.push_back("--language=" + std::string(name_of(*own)));
  return argv;
}

std::filesystem::path engine_log_stem(const LaunchRequest& request, int index) {
  return request.paths.log() / ("ipengine-" + request.paths.cluster_id + "-" +
                                request.engine_set_id + "-" + std::to_string(index));
}

Result<void> check_program(const std::vector<std::string>& argv, std::string_view what,
                           const Machine& machine) {
  if (argv.empty())
    return Error{ErrorKind::bad_input, "the command for " + std::string(what) + " is empty"};
  if (machine.find_program(argv.front())) return {};
  return Error{ErrorKind::unsupported, "cannot start " + std::string(what) + ": the program '" +
                                           argv.front() + "' does not exist or is not executable"};
}

}  // namespace px::cluster
