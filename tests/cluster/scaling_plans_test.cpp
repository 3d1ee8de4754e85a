#include <gtest/gtest.h>

#include "cluster/launch/start_plan.hpp"
#include "cluster/remote/job_watch.hpp"
#include "cluster/remote/ssh_plan.hpp"

namespace px::cluster {
namespace {

/// A batch system; the script of its engines is their command line.
std::string batch_profile(bool submits_environment) {
  Json profile = Json::parse(R"({"submit": ["sbatch"], "delete": ["scancel"], "is_mpi": true,
      "job_id_regexp": "job .*", "controller": [], "lines": [], "status": ["squeue"],
      "engines": ["{environment}", "{program_and_args} # n={n}"], "state_regexp": "",
      "detail_regexps": [], "hosts_regexp": "", "waiting": [], "running": [], "meanings": {},
      "epitaph": []})");
  profile["submits_environment"] = submits_environment;
  return profile.dump();
}

Machine machine_of(std::map<std::string, std::string> variables = {},
                   bool submits_environment = true) {
  Machine machine;
  machine.cores = 4;
  machine.pid = 77;
  machine.find_program = [](const std::string& name) { return std::optional("/bin/" + name); };
  machine.profile_file = [=](const std::string&) {
    return std::optional(batch_profile(submits_environment));
  };
  machine.variable = [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return machine;
}

LaunchRequest request_of(const std::string& launcher) {
  LaunchRequest request;
  request.settings.engines = launcher;
  request.settings.engine_cmd = {"pxengine"};
  request.settings.controller_cmd = {"pxcontroller"};
  request.paths.root = "/home/ann/.ipython/profile_default";
  request.engine_set_id = "1700";
  request.engine_count = 2;
  return request;
}

TEST(PlanMore, AddsLocalEnginesWithTheirOwnLogs) {
  const auto more = plan_more_engines(request_of("local"), 2, 2, machine_of());
  ASSERT_TRUE(more);
  ASSERT_EQ(more->size(), 2u);
  EXPECT_EQ(more->at(0).command.log_file.filename(), "ipengine--1700-2.log");
  EXPECT_EQ(more->at(1).command.log_file.filename(), "ipengine--1700-3.log");
  EXPECT_EQ(more->at(0).command.environment.at("OMP_NUM_THREADS"), "1");
}

TEST(PlanMore, GivesEachEngineOfAHostAWatcher) {
  LaunchRequest request = request_of("ssh");
  request.settings.hosts = *parse_hosts("a:2,b:2");
  const auto more = plan_more_engines(request, 1, 3, machine_of());
  ASSERT_TRUE(more);
  std::vector<std::string> hosts, runs;
  for (const PlannedProcess& process : *more) {
    EXPECT_EQ(process.engine_count, 1);
    const auto plan = read_ssh_host_plan(Json::parse(process.command.environment.at("PX_WATCH")));
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->engines.size(), 1u);
    hosts.push_back(plan->host);
    runs.push_back(plan->run_name);
  }
  EXPECT_EQ(hosts, (std::vector<std::string>{"a", "b", "b"}));
  EXPECT_EQ(runs, (std::vector<std::string>{"engines-1700-77-3", "engines-1700-77-4",
                                            "engines-1700-77-5"}));
}

TEST(PlanMore, GivesEachEngineOfSlurmAJobThatKnowsItsNumber) {
  const auto more = plan_more_engines(request_of("slurm"), 2, 2, machine_of());
  ASSERT_TRUE(more) << more.error().what;
  ASSERT_EQ(more->size(), 2u);
  const auto job = read_job_plan(Json::parse(more->at(1).command.environment.at("PX_WATCH")));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->engine_count, 1);
  EXPECT_NE(job->script.find("PX_ENGINE_NUMBER='3'"), std::string::npos) << job->script;
  EXPECT_NE(job->script.find("n=1"), std::string::npos);
  EXPECT_TRUE(job->script_file.ends_with("engines-1700-3.slurm.sh"));
}

TEST(PlanMore, SaysWhyALauncherCannot) {
  const auto why = [](const std::string& launcher, const Machine& machine) {
    const auto more = plan_more_engines(request_of(launcher), 2, 1, machine);
    return more ? std::string() : more.error().what;
  };
  EXPECT_NE(why("mpi", machine_of()).find("ranks of an MPI world"), std::string::npos);
  EXPECT_NE(why("slurm", machine_of({{"SLURM_JOB_ID", "9"}})).find("one step of this Slurm job"),
            std::string::npos);
  EXPECT_NE(why("pbs", machine_of({}, false)).find("do not get the environment"),
            std::string::npos);
}

TEST(PlanMore, RespawnIsRefusedForEnginesThatStartTogether) {
  for (const char* launcher : {"local", "mpi"}) {
    LaunchRequest request = request_of(launcher);
    request.settings.respawn = true;
    request.settings.respawn_limit = 3;
    const auto plan = make_start_plan(request, true, machine_of());
    const bool is_local = std::string(launcher) == "local";
    ASSERT_EQ(plan.has_value(), is_local) << launcher;
    if (is_local)
      EXPECT_EQ(plan->respawn_limit, 3);
    else
      EXPECT_NE(plan.error().what.find("pxcluster restart"), std::string::npos);
  }
}

}  // namespace
}  // namespace px::cluster
