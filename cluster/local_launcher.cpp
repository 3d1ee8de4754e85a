#include <px/cluster/local_launcher.hpp>

#include <px/wire/language_plan.hpp>

namespace px {
namespace {

/// Each engine is told its own language, as it does not know which one of them it is.
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

}  // namespace

Result<PlannedProcess> LocalLauncher::plan_controller(const LaunchRequest& request,
                                                      const Machine& machine) const {
  PlannedProcess controller;
  controller.has_children = true;  // ipyparallel's own is a family of processes
  controller.command = {.argv = controller_argv(request),
                        .environment = cluster_environment(request),
                        .log_file = controller_log(request, machine)};
  if (auto there = check_program(controller.command.argv, "the controller", machine); !there)
    return there.error();
  return controller;
}

Result<EnginePlan> LocalLauncher::plan_engines(const LaunchRequest& request,
                                               const Machine& machine) const {
  const Settings& settings = request.settings;
  std::vector<std::string> argv = settings.engine_cmd;
  argv.insert(argv.end(), settings.engine_args.begin(), settings.engine_args.end());
  if (auto there = check_program(argv, "the engines", machine); !there) return there.error();
  const std::string stem =
      "ipengine-" + request.paths.cluster_id + "-" + request.engine_set_id + "-";
  EnginePlan plan;
  for (int i = 0; i < request.engine_count; ++i) {
    const Result<std::vector<std::string>> own = with_language(argv, settings.language, i);
    if (!own) return own.error();
    plan.processes.push_back(
        {.command = {.argv = *own,
                     .environment = cluster_environment(request),
                     .log_file = request.paths.log() / (stem + std::to_string(i) + ".log")},
         .engine_count = 1});
  }
  return plan;
}

}  // namespace px
