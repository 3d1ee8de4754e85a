#include "cluster/launch/launchers.hpp"

#include <algorithm>

#include "cluster/launch/mpi_kind.hpp"
#include "cluster/records/record_file.hpp"
#include "cluster/remote/job_watch.hpp"
#include "cluster/remote/ssh_plan.hpp"
#include "cluster/remote/watch_report.hpp"
#include "wire/text.hpp"

namespace px::cluster {
namespace {

constexpr Duration command_patience = std::chrono::seconds(15);

std::string shell_line(const std::vector<std::string>& argv) {
  return join(argv, " ", [](const std::string& word) {
    const bool is_plain =
        !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
          return std::isalnum(c) != 0 ||
                 std::string_view("_-./=:,+@%").find(static_cast<char>(c)) !=
                     std::string_view::npos;
        });
    return is_plain ? word : shell_quoted(word);
  });
}

/// Open MPI under srun: with Slurm's default, `mixed`, MPI_Init crashes on a busy host now and then
/// (once in 45 starts of 4 ranks on 2 hosts; with `tree` once in 7, with `ring` never in 150; Slurm
/// 22.05, Open MPI 4.1.4). A rank gets a message while it still waits in the first of two barriers
/// that Slurm makes for it: the others have passed both.
void choose_fence(std::map<std::string, std::string>& environment, const Machine& machine) {
  set_default(environment, "SLURM_PMIX_FENCE", "ring", machine);
}

/// What engine and controller need to find their files and their Python; a batch system need not
/// pass the environment on.
std::string environment_lines(const LaunchRequest& request, const Machine& machine, bool is_slurm) {
  std::map<std::string, std::string> environment = cluster_environment(request);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto value = machine.variable(name)) environment.try_emplace(name, *value);
  if (is_slurm) choose_fence(environment, machine);
  return join(environment, "\n", [](const auto& variable) {
    return "export " + variable.first + "=" + shell_quoted(variable.second);
  });
}

Result<std::vector<std::string>> engine_argv(const LaunchRequest& request, bool is_mpi) {
  const Settings& settings = request.settings;
  std::vector<std::string> argv =
      settings.remote_engine_cmd.empty() ? settings.engine_cmd : settings.remote_engine_cmd;
  if (!settings.remote_python.empty()) argv.push_back("--python=" + settings.remote_python);
  if (is_mpi) {
    argv.push_back("--mpi");
    if (!settings.language.empty()) argv.push_back("--language=" + settings.language);
  } else if (!settings.language.empty()) {
    // all engines of an array have one command line
    auto first = with_language(argv, settings.language, 0);
    if (!first) return first.error();
    for (int i = 1; i < request.engine_count; ++i)
      if (auto other = with_language(argv, settings.language, i); !other || *other != *first)
        return Error{ErrorKind::bad_input,
                     "a job array has engines of one language only: start each "
                     "language with its own `pxcluster engines`"};
    argv = std::move(*first);
  }
  argv.insert(argv.end(), settings.engine_args.begin(), settings.engine_args.end());
  return argv;
}

Placeholders placeholders(const LaunchRequest& request, const Machine& machine,
                          const std::vector<std::string>& argv, const JobPlan& job) {
  const Settings& settings = request.settings;
  Placeholders values = settings.batch_names;
  const auto set = [&](const char* name, const std::string& value) { values[name] = value; };
  set("n", std::to_string(job.what == "engines" ? request.engine_count : 1));
  set("queue", settings.queue);
  set("account", settings.account);
  set("qos", settings.qos);
  set("timelimit", settings.timelimit);
  set("options", "");
  set("profile_dir", request.paths.root.string());
  set("cluster_id", request.paths.cluster_id);
  set("output_file", job.output_file);
  set("program_and_args", shell_line(argv));
  set("program", argv.empty() ? "" : argv.front());
  const bool is_slurm = job.system.name == "slurm";
  set("environment", environment_lines(request, machine, is_slurm));
  set("setup", join(settings.engine_env, "\n"));
  set("wrapper", job.wrapper_file);
  const std::string mpi_type = is_slurm ? choose_mpi_type(settings, machine) : std::string();
  set("mpi_type", mpi_type);
  const std::string srun = shell_line(settings.srun_args);
  set("srun_options", (mpi_type.empty() ? "" : "--mpi=" + mpi_type) +
                          (mpi_type.empty() || srun.empty() ? "" : " ") + srun);
  return values;
}

/// Scripts, files and the process that watches over the job.
Result<PlannedProcess> plan_job(const LaunchRequest& request, const Machine& machine, JobPlan job,
                                const std::vector<std::string>& argv,
                                const std::filesystem::path& log) {
  const bool is_engines = job.what == "engines";
  const Settings& settings = request.settings;
  const std::string stem =
      (request.paths.pid() / (job.what + "-" + request.engine_set_id + "." + job.system.name))
          .string();
  job.script_file = stem + ".sh";
  if (is_engines) job.end_file = job_end_file(request.paths, request.engine_set_id).string();
  if (!job.system.wrapper.empty()) job.wrapper_file = stem + "-wrapper.sh";
  std::string output = log.string();
  output.resize(output.size() - log.extension().string().size());
  job.output_file = output + "-0.log";
  const Placeholders values = placeholders(request, machine, argv, job);
  const std::string& own = settings.batch_template;
  const std::string& script =
      is_engines ? (own.empty() ? job.system.engines : own) : job.system.controller;
  auto text = render_batch_script(job.system, script, values, settings.batch_options, is_engines);
  if (!text) return text.error();
  job.script = std::move(*text);
  auto wrapper = fill_in(job.system.wrapper, values);
  if (!wrapper) return wrapper.error();
  job.wrapper = std::move(*wrapper);
  PlannedProcess process;
  process.command = {
      .argv = {machine.pxcluster, "watch", "job"},
      .environment = {{watch_plan_variable, pack(Packer::json, write_job_plan(job))}},
      .log_file = log,
      .has_reports = true};
  // for templates that leave it to the batch system to pass the environment on
  for (const auto& [name, value] : cluster_environment(request))
    process.command.environment[name] = value;
  process.engine_count = job.engine_count;
  process.has_children = true;
  return process;
}

/// The engines as the ranks of an srun in an allocation that is there.
Result<EnginePlan> plan_srun(const LaunchRequest& request, const Machine& machine,
                             const std::string& allocation) {
  const Settings& settings = request.settings;
  if (!settings.engine_env.empty())
    return Error{ErrorKind::bad_input,
                 "--engine-env has no effect inside an allocation, where srun passes on this "
                 "environment: run these lines "
                 "before pxcluster start"};
  auto argv = engine_argv(request, true);
  if (!argv) return argv.error();
  std::vector<std::string> srun{"srun", "--ntasks=" + std::to_string(request.engine_count)};
  const std::string mpi_type = choose_mpi_type(settings, machine);
  if (!mpi_type.empty()) srun.push_back("--mpi=" + mpi_type);
  srun.insert(srun.end(), settings.srun_args.begin(), settings.srun_args.end());
  srun.insert(srun.end(), argv->begin(), argv->end());
  EnginePlan plan;
  plan.notes.push_back("the engines run as a step of Slurm job " + allocation +
                       ", in which this shell runs");
  auto environment = cluster_environment(request);
  choose_fence(environment, machine);
  Command command{.argv = std::move(srun),
                  .environment = std::move(environment),
                  .log_file = engine_log_stem(request, 0).string() + ".log"};
  plan.processes.push_back(
      {.command = std::move(command), .engine_count = request.engine_count, .has_children = true});
  plan.patience = command_patience;
  return plan;
}

}  // namespace

std::string choose_mpi_type(const Settings& settings, const Machine& machine) {
  if (settings.mpi_type == "none") return "";
  if (!settings.mpi_type.empty()) return settings.mpi_type;
  if (!machine.output_of) return "";
  const std::string list = machine.output_of({"srun", "--mpi=list"}).value_or("");
  const auto has = [&](std::string_view type) { return list.find(type) != std::string::npos; };
  const MpiKind kind = find_mpi_kind(settings.mpi_cmd, machine);
  if (kind == MpiKind::mpich && has("pmi2")) return "pmi2";
  if (has("pmix")) return "pmix";
  return has("pmi2") ? "pmi2" : "";
}

Result<BatchSystem> BatchLauncher::read_system(const Settings& settings,
                                               const Machine& machine) const {
  std::string name = system_;
  // Torque's qsub calls an array -t, that of OpenPBS and PBS Professional -J
  if (name == "pbs" && settings.submit_command.empty() && machine.output_of) {
    const auto version = machine.output_of({"qsub", "--version"});
    if (version && !version->empty() && version->find("pbs_version") == std::string::npos)
      name = "torque";
  }
  const auto text = machine.profile_file ? machine.profile_file("batch/" + name + ".json")
                                         : std::optional<std::string>();
  if (!text)
    return Error{ErrorKind::not_found,
                 "profiles/batch/" + name +
                     ".json does not exist: set the folder of polyxeus's profiles "
                     "in $POLYXEUS_PROFILES"};
  auto json = unpack(Packer::json, *text);
  if (!json) return json.error();
  if (!settings.submit_command.empty()) (*json)["submit"] = settings.submit_command;
  if (!settings.delete_command.empty()) (*json)["delete"] = settings.delete_command;
  if (!settings.job_id_regexp.empty()) (*json)["job_id_regexp"] = settings.job_id_regexp;
  auto system = read_batch_system(name, *json);
  if (!system) return system.error();
  if (auto there = check_program(system->submit, "a job of " + name, machine); !there)
    return there.error();
  // A misspelled one would show only when the job is to end.
  if (!settings.delete_command.empty())
    if (auto there = check_program(system->remove, "the end of a job of " + name, machine); !there)
      return there.error();
  return system;
}

Result<PlannedProcess> BatchLauncher::plan_controller(const LaunchRequest& request,
                                                      const Machine& machine) const {
  auto system = read_system(request.settings, machine);
  if (!system) return system.error();
  LaunchRequest everywhere = request;  // nobody knows yet on which host it will be
  if (everywhere.settings.ip.empty()) everywhere.settings.ip = "*";
  JobPlan job;
  job.system = std::move(*system);
  job.what = "controller";
  return plan_job(everywhere, machine, std::move(job), controller_argv(everywhere),
                  controller_log(request, machine));
}

Result<EnginePlan> BatchLauncher::plan_engines(const LaunchRequest& request,
                                               const Machine& machine) const {
  EnginePlan plan;
  const auto allocation = machine.variable("SLURM_JOB_ID");
  const bool is_step = allocation && system_ == "slurm";
  if (is_step && request.engine_count > 0) return plan_srun(request, machine, *allocation);
  if (is_step) return plan;
  // Also for engines that are to come later: who starts the controller first learns it before.
  auto system = read_system(request.settings, machine);
  if (!system) return system.error();
  if (request.engine_count == 0) return plan;
  auto argv = engine_argv(request, system->is_mpi);
  if (!argv) return argv.error();
  JobPlan job;
  job.system = std::move(*system);
  job.engine_count = request.engine_count;
  auto process = plan_job(request, machine, std::move(job), *argv,
                          engine_log_stem(request, 0).string() + ".log");
  if (!process) return process.error();
  plan.processes.push_back(std::move(*process));
  plan.patience = command_patience;
  return plan;
}

/// A job for each engine.
Result<std::vector<PlannedProcess>> BatchLauncher::plan_more(const LaunchRequest& request,
                                                             int first, int count,
                                                             const Machine& machine) const {
  if (machine.variable("SLURM_JOB_ID") && system_ == "slurm")
    return Error{ErrorKind::unsupported,
                 "the engines are the ranks of one step of this Slurm job, which start and end "
                 "together: run `pxcluster start` outside of the job, so that each engine gets a "
                 "job of its own"};
  auto system = read_system(request.settings, machine);
  if (!system) return system.error();
  if (!system->submits_environment)
    return Error{ErrorKind::unsupported,
                 "jobs of " + std::string(system_) +
                     " do not get the environment of the command that submits them, which "
                     "identifies each engine: scaling works with local, ssh and slurm"};
  std::vector<PlannedProcess> processes;
  for (int number = first; number < first + count; ++number) {
    LaunchRequest one = request;
    one.engine_count = 1;
    one.engine_set_id += "-" + std::to_string(number);  // names the files of the job
    one.settings.environment["PX_ENGINE_NUMBER"] = std::to_string(number);
    auto argv = engine_argv(one, system->is_mpi);
    if (!argv) return argv.error();
    JobPlan job;
    job.system = *system;
    job.engine_count = 1;
    auto process =
        plan_job(one, machine, std::move(job), *argv, engine_log_stem(one, 0).string() + ".log");
    if (!process) return process.error();
    processes.push_back(std::move(*process));
  }
  return processes;
}

}  // namespace px::cluster
