#include <gtest/gtest.h>

#include "cluster/launch/launcher.hpp"
#include "cluster/launch/launchers.hpp"
#include "cluster/launch/rank_plans.hpp"
#include "cluster/launch/start_plan.hpp"
#include "cluster/remote/job_watch.hpp"
#include "cluster/remote/ssh_plan.hpp"
#include "program/thread_share.hpp"

namespace px::cluster {
namespace {

Machine machine_with(std::vector<std::string> programs,
                     std::map<std::string, std::string> variables = {}) {
  return {.cores = 4,
          .physical_cores = 2,
          .is_root = false,
          .pid = 77,
          .find_program = [programs](const std::string& name) -> std::optional<std::string> {
            for (const std::string& program : programs)
              if (program == name) return "/bin/" + name;
            return std::nullopt;
          },
          .output_of = {},
          .profile_file = {},
          .variable = [variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

Machine usual_machine() {
  return machine_with({"pxcontroller", "ipcontroller", "pxengine", "mpiexec"});
}

LaunchRequest request_for(int engine_count, const std::string& cluster_id = "") {
  LaunchRequest request;
  request.settings.controller_cmd = {"pxcontroller"};
  request.settings.engine_cmd = {"pxengine"};
  request.paths.root = "/home/ann/.ipython/profile_default";
  request.paths.cluster_id = cluster_id;
  request.engine_set_id = "1700";
  request.engine_count = engine_count;
  return request;
}

EnginePlan plan_of(const std::string& launcher, const LaunchRequest& request,
                   const Machine& machine = usual_machine()) {
  auto plan = (*find_launcher(launcher))->plan_engines(request, machine);
  EXPECT_TRUE(plan) << plan.error().what;
  return *plan;
}

std::vector<std::string> words(std::initializer_list<std::string> list) {
  return list;
}

TEST(Launcher, IsFoundByEveryNameThatIpyparallelHasForIt) {
  for (const char* name : {"local", "Local", "LocalEngineSetLauncher", "LocalControllerLauncher",
                           "ipyparallel.cluster.launcher.LocalEngineSetLauncher",
                           "ipyparallel.cluster.launcher:LocalEngineSetLauncher", "polyxeus"})
    EXPECT_EQ((*find_launcher(name))->name(), "local") << name;
  for (const char* name : {"mpi", "MPI", "MPIEngineSetLauncher", "MPIControllerLauncher",
                           "MPIExecEngineSetLauncher", "polyxeus-mpi"})
    EXPECT_EQ((*find_launcher(name))->name(), "mpi") << name;
}

TEST(Launcher, SaysWhichOnesThereAre) {
  EXPECT_EQ(find_launcher("winhpc").error().kind, ErrorKind::unsupported);
  EXPECT_EQ(find_launcher("carrier-pigeon").error().kind, ErrorKind::bad_input);
}

TEST(Launcher, IsFoundForEachBatchSystemToo) {
  for (const char* name : {"ssh", "slurm", "pbs", "torque", "sge", "lsf", "htcondor"})
    EXPECT_EQ((*find_launcher(name))->name(), name);
  EXPECT_EQ((*find_launcher("SlurmEngineSetLauncher"))->name(), "slurm");
  EXPECT_EQ((*find_launcher("SSHEngineSetLauncher"))->name(), "ssh");
}

TEST(LocalLauncher, StartsOneProcessForEachEngine) {
  LaunchRequest request = request_for(2, "abc");
  request.settings.engine_args = {"--debug"};
  const EnginePlan plan = plan_of("local", request);
  ASSERT_EQ(plan.processes.size(), 2u);
  const Command& command = plan.processes[1].command;
  EXPECT_EQ(command.argv, words({"pxengine", "--debug"}));
  EXPECT_EQ(command.log_file, request.paths.log() / "ipengine-abc-1700-1.log");
  EXPECT_EQ(command.environment.at("IPP_CLUSTER_ID"), "abc");
  EXPECT_EQ(command.environment.at("IPP_PROFILE_DIR"), "/home/ann/.ipython/profile_default");
}

TEST(LocalLauncher, PassesAddressAndArgumentsToTheController) {
  LaunchRequest request = request_for(1);
  request.settings.ip = "*";
  request.settings.location = "node1";
  request.settings.journal = "power";
  request.settings.controller_args = {"--sqlitedb"};
  const auto controller = (*find_launcher("local"))->plan_controller(request, usual_machine());
  ASSERT_TRUE(controller);
  EXPECT_EQ(controller->command.argv,
            words({"pxcontroller", "--ip=*", "--location=node1", "--journal=power", "--sqlitedb"}));
  EXPECT_EQ(controller->command.log_file.filename(), "ipcontroller-77.log");
}

TEST(MpiLauncher, StartsAllEnginesByOneMpiexec) {
  LaunchRequest request = request_for(2);
  request.settings.mpi_args = {"--bind-to", "none"};
  request.settings.engine_args = {"--debug"};
  const EnginePlan plan = plan_of("mpi", request);
  ASSERT_EQ(plan.processes.size(), 1u);
  EXPECT_EQ(plan.processes[0].command.argv,
            words({"mpiexec", "-n", "2", "--bind-to", "none", "pxengine", "--mpi", "--debug"}));
  EXPECT_EQ(plan.processes[0].engine_count, 2);
  EXPECT_TRUE(plan.notes.empty());
}

TEST(MpiLauncher, StartsTheControllerAsOneRank) {
  const auto controller = (*find_launcher("mpi"))->plan_controller(request_for(2), usual_machine());
  ASSERT_TRUE(controller);
  EXPECT_EQ(controller->command.argv, words({"mpiexec", "-n", "1", "pxcontroller"}));
}

TEST(MpiLauncher, NamesAnMpiexecThatIsMissing) {
  const auto plan =
      (*find_launcher("mpi"))->plan_engines(request_for(2), machine_with({"pxengine"}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::unsupported);
  EXPECT_NE(plan.error().what.find("'mpiexec'"), std::string::npos);
}

TEST(MpiLauncher, OversubscribesByItselfAndSaysSo) {
  const EnginePlan plan = plan_of("mpi", request_for(8));
  EXPECT_EQ(plan.processes[0].command.environment.at("OMPI_MCA_rmaps_base_oversubscribe"), "1");
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("8 ranks on 4 cores"), std::string::npos);
}

TEST(MpiLauncher, OversubscribesHardwareThreadsWithoutAWord) {
  const EnginePlan plan = plan_of("mpi", request_for(4));
  EXPECT_TRUE(plan.processes[0].command.environment.contains("OMPI_MCA_rmaps_base_oversubscribe"));
  EXPECT_TRUE(plan.notes.empty());
}

TEST(MpiLauncher, DoesNotOversubscribeWhereOthersSayWhereRanksGo) {
  LaunchRequest request = request_for(8);
  EXPECT_TRUE(
      plan_of("mpi", request, machine_with({"mpiexec", "pxengine"}, {{"SLURM_JOB_ID", "1"}}))
          .notes.empty());
  request.settings.mpi_args = {"--hostfile", "hosts"};
  EXPECT_TRUE(plan_of("mpi", request).notes.empty());
}

TEST(MpiLauncher, LetsRootRunAndSaysSo) {
  Machine machine = usual_machine();
  machine.is_root = true;
  const EnginePlan plan = plan_of("mpi", request_for(2), machine);
  EXPECT_EQ(plan.processes[0].command.environment.at("OMPI_ALLOW_RUN_AS_ROOT"), "1");
  EXPECT_EQ(plan.processes[0].command.environment.at("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
  EXPECT_EQ(plan.notes.size(), 1u);
}

TEST(MpiLauncher, KeepsWhatTheUserHasSetForRoot) {
  Machine machine =
      machine_with({"mpiexec", "pxengine"},
                   {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  machine.is_root = true;
  const EnginePlan plan = plan_of("mpi", request_for(2), machine);
  EXPECT_TRUE(plan.notes.empty());
  EXPECT_FALSE(plan.processes[0].command.environment.contains("OMPI_ALLOW_RUN_AS_ROOT"));
}

TEST(Launcher, TellsEachLocalEngineItsOwnLanguageAndRanksTheWholePlan) {
  LaunchRequest request = request_for(2);
  request.settings.language = "python:1,cpp:1";
  const EnginePlan local = plan_of("local", request);
  EXPECT_EQ(local.processes.at(0).command.argv, words({"pxengine", "--language=python"}));
  EXPECT_EQ(local.processes.at(1).command.argv, words({"pxengine", "--language=cpp"}));
  const EnginePlan ranks = plan_of("mpi", request);
  EXPECT_EQ(ranks.processes.at(0).command.argv,
            words({"mpiexec", "-n", "2", "pxengine", "--mpi", "--language=python:1,cpp:1"}));
}

LaunchRequest request_on(const std::string& hosts, int engine_count) {
  LaunchRequest request = request_for(engine_count);
  request.settings.hosts = *parse_hosts(hosts);
  return request;
}

Machine machine_of_mpi(const std::string& version) {
  Machine machine = usual_machine();
  machine.output_of = [version](const auto&) { return version; };
  return machine;
}

std::string line_of(const PlannedProcess& process) {
  std::string line;
  for (const std::string& word : process.command.argv) line += word + " ";
  return line;
}

TEST(MpiLauncher, TellsOpenMpiTheHostsTheVariablesAndToNoticeALostHost) {
  const EnginePlan plan =
      plan_of("mpi", request_on("a:2,b:2", 3), machine_of_mpi("mpiexec (OpenRTE) 4.1.4"));
  const std::string line = line_of(plan.processes.at(0));
  EXPECT_TRUE(line.starts_with("mpiexec -n 3 --host a:2,b:1 --mca plm_rsh_args -o")) << line;
  EXPECT_NE(line.find("ServerAliveInterval=5"), std::string::npos);
  EXPECT_NE(line.find("-x IPP_PROFILE_DIR -x IPP_CONNECTION_INFO pxengine --mpi"),
            std::string::npos);
}

TEST(MpiLauncher, TellsMpichTheHosts) {
  const EnginePlan plan =
      plan_of("mpi", request_on("a:2,b:2", 4), machine_of_mpi("HYDRA build details:"));
  EXPECT_TRUE(line_of(plan.processes.at(0))
                  .starts_with("mpiexec -n 4 -launcher ssh -hosts a:2,b:2 pxengine --mpi"));
  EXPECT_TRUE(plan.processes[0].command.environment.contains("HYDRA_LAUNCHER_EXTRA_ARGS"));
}

TEST(MpiLauncher, RunsTheUsersLinesOfShellBeforeTheRanks) {
  LaunchRequest request = request_for(2);
  request.settings.engine_env = {"module load x"};
  EXPECT_EQ(plan_of("mpi", request).processes.at(0).command.argv,
            words({"mpiexec", "-n", "2", "bash", "-l", "-c", "module load x\nexec \"$0\" \"$@\"",
                   "pxengine", "--mpi"}));
}

TEST(SshLauncher, StartsAWatcherForEachHostThatGetsEngines) {
  Machine machine = machine_with({"ssh"}, {{"HOME", "/home/ann"}});
  const EnginePlan plan = plan_of("ssh", request_on("a:2,b:0,c:1", 3), machine);
  ASSERT_EQ(plan.processes.size(), 2u);
  EXPECT_EQ(plan.processes[0].engine_count, 2);
  EXPECT_EQ(plan.processes[1].engine_count, 1);
  const auto host =
      read_ssh_host_plan(Json::parse(plan.processes[1].command.environment.at("PX_WATCH")));
  ASSERT_TRUE(host);
  EXPECT_EQ(host->host, "c");
  EXPECT_EQ(host->profile_dir, ".ipython/profile_default");  // of another home there
}

TEST(SshLauncher, WithATunnelTheControllerStaysOnLoopback) {
  LaunchRequest request = request_on("a:1,b:1", 2);
  const auto launcher = *find_launcher("ssh");
  EXPECT_TRUE(launcher->is_remote(request));
  request.settings.tunnel = true;
  EXPECT_FALSE(launcher->is_remote(request));
  const EnginePlan plan = plan_of("ssh", request, machine_with({"ssh"}));
  const auto host =
      read_ssh_host_plan(Json::parse(plan.processes[0].command.environment.at("PX_WATCH")));
  EXPECT_TRUE(host->is_tunnelled);
}

TEST(SshLauncher, FindsTheEngineBesideThePythonThatTheUserNames) {
  LaunchRequest request = request_on("a", 1);
  request.settings.remote_python = "/opt/venv/bin/python";
  const EnginePlan plan = plan_of("ssh", request, machine_with({"ssh"}));
  const auto host =
      read_ssh_host_plan(Json::parse(plan.processes[0].command.environment.at("PX_WATCH")));
  EXPECT_EQ(host->engines.at(0),
            words({"/opt/venv/bin/pxengine", "--python=/opt/venv/bin/python"}));
}

TEST(LocalLauncher, RefusesHostsThatItCannotUse) {
  const auto plan =
      (*find_launcher("local"))->plan_engines(request_on("host2:2", 2), usual_machine());
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("--engines=ssh"), std::string::npos);
}

TEST(SshLauncher, NeedsHosts) {
  const auto plan =
      (*find_launcher("ssh"))->plan_engines(request_for(2), machine_with({"ssh", "pxengine"}));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("--hosts=host2:4"), std::string::npos);
}

TEST(BatchLauncher, IsAnSrunInsideOfAnAllocation) {
  Machine machine = machine_with({"srun"}, {{"SLURM_JOB_ID", "9"}});
  machine.output_of = [](const std::vector<std::string>& argv) {
    return argv.front() == "srun" ? "MPI plugin types are...\n\tpmi2\n\tpmix" : "Open MPI";
  };
  const EnginePlan plan = plan_of("slurm", request_for(3), machine);
  EXPECT_EQ(plan.processes.at(0).command.argv,
            words({"srun", "--ntasks=3", "--mpi=pmix", "pxengine", "--mpi"}));
  EXPECT_EQ(plan.processes.at(0).command.environment.at("SLURM_PMIX_FENCE"), "ring");
}

TEST(BatchLauncher, LeavesTheFenceOfSrunToTheUserWhoHasChosenIt) {
  Machine machine = machine_with({"srun"}, {{"SLURM_JOB_ID", "9"}, {"SLURM_PMIX_FENCE", "tree"}});
  machine.output_of = [](const std::vector<std::string>&) { return "pmix"; };
  const EnginePlan plan = plan_of("slurm", request_for(3), machine);
  EXPECT_FALSE(plan.processes.at(0).command.environment.contains("SLURM_PMIX_FENCE"));
}

/// One that knows the commands sbatch and scancel.
Machine slurm_machine(std::vector<std::string> programs) {
  Machine machine = machine_with(std::move(programs));
  machine.profile_file = [](const std::string&) {
    return std::optional<std::string>(R"json({"submit": ["sbatch"], "delete": ["scancel"],
      "job_id_regexp": "job (.*)", "engines": ["{environment}", "{program_and_args}"], "controller": [], "lines": [],
      "status": ["squeue"], "state_regexp": "", "detail_regexps": [], "hosts_regexp": "",
      "waiting": [], "running": [], "meanings": {}, "epitaph": []})json");
  };
  return machine;
}

TEST(BatchLauncher, IsRefusedBeforeTheControllerStartsWhereItsCommandsAreMissing) {
  const auto plan =
      (*find_launcher("slurm"))->plan_engines(request_for(0), slurm_machine({"pxengine"}));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().what.find("sbatch"), std::string::npos) << plan.error().what;
}

TEST(BatchLauncher, TellsTheWatcherOfTheJobTheUsersCommands) {
  const Machine machine = slurm_machine({"my-sbatch", "my-scancel", "pxengine"});
  LaunchRequest request = request_for(2);
  request.settings.submit_command = {"my-sbatch"};
  request.settings.delete_command = {"my-scancel"};
  request.settings.job_id_regexp = "number (.*)";
  const EnginePlan plan = plan_of("slurm", request, machine);
  const auto job =
      read_job_plan(Json::parse(plan.processes.at(0).command.environment.at("PX_WATCH")));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->system.submit, words({"my-sbatch"}));
  EXPECT_EQ(job->system.remove, words({"my-scancel"}));
  EXPECT_EQ(job->system.job_id_regexp, "number (.*)");
  EXPECT_NE(job->script.find("export SLURM_PMIX_FENCE='ring'"), std::string::npos) << job->script;
}

TEST(BatchLauncher, ChoosesTheMpiThatSlurmAndMpiexecShare) {
  Machine machine = machine_with({"mpiexec"});
  const auto choose = [&](const char* types, const char* version) {
    machine.output_of = [=](const std::vector<std::string>& argv) {
      return argv.front() == "srun" ? types : version;
    };
    return choose_mpi_type(Settings{}, machine);
  };
  EXPECT_EQ(choose("pmi2 pmix", "mpiexec (Open MPI) 5"), "pmix");
  EXPECT_EQ(choose("pmi2 pmix", "HYDRA build"), "pmi2");
  EXPECT_EQ(choose("none", "HYDRA build"), "");
  Settings settings;
  settings.mpi_type = "none";
  EXPECT_EQ(choose_mpi_type(settings, machine), "");
}

TEST(StartPlan, LetsTheControllerListenEverywhereWhereEnginesAreElsewhereAndSaysSo) {
  const auto controller_of = [](const LaunchRequest& request) {
    const Machine machine = machine_with({"pxcontroller", "pxengine", "ssh", "mpiexec"});
    const auto plan = make_start_plan(request, false, machine);
    EXPECT_TRUE(plan) << plan.error().what;
    return std::pair(plan->controller->command.argv, plan->engines.notes.size());
  };
  LaunchRequest request = request_on("host2", 1);
  request.settings.engines = "ssh";
  EXPECT_EQ(controller_of(request),
            std::pair(words({"pxcontroller", "--ip=*", "--restartable"}), std::size_t{1}));
  request.settings.ip = "10.0.0.1";
  EXPECT_EQ(controller_of(request).first,
            words({"pxcontroller", "--ip=10.0.0.1", "--restartable"}));
  request = request_on("localhost", 1);
  request.settings.engines = "ssh";
  EXPECT_EQ(controller_of(request).first, words({"pxcontroller", "--restartable"}));
  EXPECT_EQ(controller_of(request_for(2)).first, words({"pxcontroller", "--restartable"}));
}

TEST(StartPlan, StartsOnlyAControllerOfOursOnThisHostAgain) {
  const auto takes_over = [](const LaunchRequest& request) {
    const Machine machine = machine_with({"pxcontroller", "ipcontroller", "pxengine", "mpiexec"});
    const auto plan = make_start_plan(request, false, machine);
    EXPECT_TRUE(plan) << plan.error().what;
    return plan ? plan->takes_over : std::vector<std::string>{"no plan"};
  };
  LaunchRequest request = request_for(2);
  EXPECT_EQ(takes_over(request), words({"--restore"}));
  request.settings.controller_cmd = {"ipcontroller"};
  EXPECT_EQ(takes_over(request), words({}));
  request = request_for(2);
  request.settings.controller = "mpi";
  EXPECT_EQ(takes_over(request), words({}));
}

TEST(StartPlan, KnowsAControllerThatOnlyThisHostReaches) {
  EXPECT_TRUE(listens_on_loopback_only(R"({"interface": "tcp://127.0.0.1"})"));
  EXPECT_FALSE(listens_on_loopback_only(R"({"interface": "tcp://*"})"));
  EXPECT_FALSE(listens_on_loopback_only(R"({"interface": "tcp://127.0.0.1", "ssh": "host2"})"));
}

TEST(StartPlan, ChoosesTheNumberOfEnginesByTheOptionThenTheLanguagesThenTheCores) {
  Settings settings;
  EXPECT_EQ(*choose_engine_count(settings, 8), 8);
  settings.language = "cpp";
  EXPECT_EQ(*choose_engine_count(settings, 8), 8);
  settings.language = "python:2,cpp:1";
  EXPECT_EQ(*choose_engine_count(settings, 8), 3);
  settings.n = 3;
  EXPECT_EQ(*choose_engine_count(settings, 8), 3);
  settings.n = 4;
  EXPECT_NE(choose_engine_count(settings, 8).error().what.find("for 3 engines, but 4"),
            std::string::npos);
  settings.language = "fortran";
  EXPECT_EQ(choose_engine_count(settings, 8).error().kind, ErrorKind::bad_input);
}

TEST(StartPlan, KnowsWhichLogsAreThoseOfItsCluster) {
  for (const char* name :
       {"ipcontroller-12.log", "ipengine--1700-0.log", "ipengine-1700-12.log", "pxcluster--9.log"})
    EXPECT_TRUE(is_log_of_cluster(name, "")) << name;
  for (const char* name : {"ipcontroller-ab-12.log", "ipengine-ab-1700-0.log", "notes.log",
                           "ipengine--1700-0.txt", "engines.json"})
    EXPECT_FALSE(is_log_of_cluster(name, "")) << name;
  EXPECT_TRUE(is_log_of_cluster("ipcontroller-ab-12.log", "ab"));
  EXPECT_TRUE(is_log_of_cluster("ipengine-ab-1700-0.log", "ab"));
  EXPECT_FALSE(is_log_of_cluster("ipengine--1700-0.log", "ab"));
}

TEST(StartPlan, SaysHowToConnectWithTheArgumentsThatAreNeeded) {
  net::ProfilePaths paths;
  paths.root = "/home/ann/.ipython/profile_default";
  EXPECT_NE(how_to_connect(paths, true, false).find("px.Client()"), std::string::npos);
  paths.root = "/home/ann/.ipython/profile_big";
  paths.cluster_id = "b";
  const std::string text = how_to_connect(paths, true, false);
  EXPECT_NE(text.find("px.Client(profile=\"big\", cluster_id=\"b\")"), std::string::npos);
  EXPECT_NE(text.find("pxcluster stop --profile=big --cluster-id=b"), std::string::npos);
  EXPECT_NE(how_to_connect(paths, false, false).find("profile_dir=\"/home/ann"), std::string::npos);
}

TEST(StartPlan, TellsANotebookOfTheNamesThatItsCellsHave) {
  net::ProfilePaths paths;
  paths.root = "/home/ann/.ipython/profile_default";
  const std::string python = how_to_connect_cells(paths, true, "python");
  for (const char* name : {"%px CODE", "`rc`", "`view`", "stop it with %pxcluster stop"})
    EXPECT_NE(python.find(name), std::string::npos) << name;
  EXPECT_EQ(python.find("%pxconfig"), std::string::npos);
  paths.cluster_id = "b";
  const std::string cpp = how_to_connect_cells(paths, true, "cpp");
  for (const char* name :
       {"view.execute(\"int x", "%pxconfig --cluster-id=b", "%pxcluster stop --cluster-id=b"})
    EXPECT_NE(cpp.find(name), std::string::npos) << name;
  EXPECT_EQ(cpp.find("ipp"), std::string::npos);
}

TEST(StartPlan, GivesEachEngineSetAnIdOfItsOwn) {
  EXPECT_EQ(new_engine_set_id(17, {}), "17");
  EXPECT_EQ(new_engine_set_id(17, {{"17", {}}, {"17-1", {}}}), "17-2");
}

TEST(StartPlan, KnowsWhenAControllerKeepsItsFiles) {
  EXPECT_TRUE(keeps_connection_files({"--ip=*", "--reuse"}));
  EXPECT_TRUE(keeps_connection_files({"--restore"}));
  EXPECT_FALSE(keeps_connection_files({"--ip=*"}));
}

// ---------------------------------------------------------------- ranks and GPUs

TEST(RankPlan, NamesTheHostOfRank0AsOthersReachIt) {
  Machine machine = machine_with({"ssh", "pxengine", "mpiexec"});
  machine.host = "login1";
  machine.output_of = [](const std::vector<std::string>& argv) {
    return argv.back() == "nick" ? std::optional<std::string>("user ann\nhostname 10.0.0.7\n")
                                 : std::nullopt;
  };
  const auto planned = [&](const std::string& launcher, const std::string& hosts, int count) {
    return plan_of(launcher, request_on(hosts, count), machine).ranks;
  };
  EXPECT_EQ(plan_of("local", request_for(3), machine).ranks, (RankPlan{.hosts = {3}}));
  EXPECT_EQ(planned("ssh", "ann@a:2,b:0,c:1", 3), (RankPlan{.hosts = {2, 1}, .address = "a"}));
  EXPECT_EQ(planned("ssh", "nick:1,c:1", 2), (RankPlan{.hosts = {1, 1}, .address = "10.0.0.7"}));
  EXPECT_EQ(planned("ssh", "localhost:1,c:1", 2), (RankPlan{.hosts = {1, 1}, .address = "login1"}));
  EXPECT_EQ(planned("ssh", "a:2", 2), (RankPlan{.hosts = {2}}));  // 127.0.0.1 there
  EXPECT_EQ(planned("mpi", "a:2,b:2", 4), (RankPlan{.hosts = {2, 2}, .address = "a"}));
  EXPECT_EQ(plan_of("mpi", request_for(2), machine).ranks, (RankPlan{.address = "login1"}));
}

TEST(RankPlan, DoesNotGuessWhereABatchSystemOrTheUsersArgumentsPutRank0) {
  Machine machine = machine_with({"pxengine", "mpiexec"}, {{"SLURM_JOB_ID", "7"}});
  machine.host = "login1";
  EXPECT_EQ(plan_of("mpi", request_for(2), machine).ranks, RankPlan{});
  machine.variable = [](const std::string&) { return std::nullopt; };
  LaunchRequest request = request_for(2);
  request.settings.mpi_args = {"--hostfile", "hosts"};
  EXPECT_EQ(plan_of("mpi", request, machine).ranks, RankPlan{});
}

TEST(RankPlan, LeavesOutWhatAnotherLauncherHasToldThisShell) {
  const auto left_out = [](std::map<std::string, std::string> variables) {
    return variables_of_one_rank(machine_with({}, std::move(variables)));
  };
  EXPECT_EQ(left_out({{"MASTER_ADDR", "ib0"}, {"MASTER_PORT", "1"}}), words({}));
  EXPECT_EQ(left_out({{"MASTER_ADDR", "ib0"}, {"RANK", "0"}}), words({"RANK", "MASTER_ADDR"}));
}

TEST(StartPlan, ChecksTheGpusOfThisHost) {
  Machine machine = usual_machine();
  machine.gpus = {.nvidia = 2};
  const auto planned = [&](const std::string& engines, const std::string& gpus, int count) {
    LaunchRequest request = request_for(count);
    request.settings.engines = engines;
    request.settings.gpus = gpus;
    return make_start_plan(request, false, machine);
  };
  for (const char* engines : {"local", "mpi"}) {
    EXPECT_EQ(planned(engines, "auto", 2)->engines.ranks.gpus, "auto");
    EXPECT_NE(planned(engines, "auto", 3)->engines.notes.back().find("share 2 GPUs"),
              std::string::npos);
    EXPECT_NE(planned(engines, "2", 2).error().what.find("--gpus=2 needs 4 GPUs"),
              std::string::npos);
  }
  EXPECT_TRUE(planned("mpi", "none", 3)->engines.notes.empty());
}

/// The thread settings of the engines that `launcher` starts: "OMP=2 NUMBA=2".
std::string threads_of(const std::string& launcher, LaunchRequest request, const Machine& machine) {
  request.settings.engines = launcher;
  const auto plan = make_start_plan(request, false, machine);
  EXPECT_TRUE(plan) << plan.error().what;
  const auto& environment = plan->engines.processes.at(0).command.environment;
  return program::used_threads([&](const std::string& name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    return found == environment.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(LocalLauncher, SharesTheCoresAmongTheEngines) {
  Machine machine = usual_machine();
  machine.cores = 8;
  EXPECT_EQ(threads_of("local", request_for(3), machine), "OMP=2 NUMBA=2");
  EXPECT_EQ(threads_of("local", request_for(20), machine), "OMP=1 NUMBA=1");
  EXPECT_EQ(threads_of("local", request_for(1), machine), "");
  EXPECT_NE(plan_of("local", request_for(3), machine).notes.at(0).find("3 engines share 8 cores"),
            std::string::npos);
  EXPECT_TRUE(plan_of("local", request_for(1), machine).notes.empty());
  machine.core_quota = 4;
  EXPECT_EQ(threads_of("local", request_for(1), machine), "OMP=4 NUMBA=4");
}

TEST(LocalLauncher, LeavesThreadsToTheUserWhoHasSetThem) {
  Machine machine = usual_machine();
  LaunchRequest request = request_for(3);
  request.settings.environment["OMP_NUM_THREADS"] = "4";
  EXPECT_EQ(threads_of("local", request, machine), "OMP=4");
  EXPECT_TRUE(plan_of("local", request, machine).notes.empty());
  machine.variable = [](const std::string& name) {
    return name == "OMP_NUM_THREADS" ? std::optional<std::string>("4") : std::nullopt;
  };
  EXPECT_EQ(threads_of("local", request_for(3), machine), "");
}

TEST(StartPlan, TellsTheEnginesOfAllLaunchersHowManyThreadsTheUserWants) {
  for (const char* launcher : {"local", "mpi"}) {
    LaunchRequest request = request_for(3);
    request.settings.engines = launcher;
    const auto wish = [&] {
      const auto plan = make_start_plan(request, false, usual_machine());
      const auto& environment = plan->engines.processes.at(0).command.environment;
      const auto found = environment.find("POLYXEUS_THREADS_PER_ENGINE");
      return found == environment.end() ? std::string() : found->second;
    };
    EXPECT_EQ(wish(), "");
    request.settings.threads_per_engine = "unchanged";
    EXPECT_EQ(wish(), "unchanged");
    EXPECT_EQ(threads_of(launcher, request, usual_machine()), "");
  }
  LaunchRequest request = request_for(3);
  request.settings.threads_per_engine = "5";
  EXPECT_EQ(threads_of("local", request, usual_machine()), "OMP=5 NUMBA=5");
}

}  // namespace
}  // namespace px::cluster
