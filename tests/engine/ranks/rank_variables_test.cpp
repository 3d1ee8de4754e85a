#include "engine/ranks/rank_variables.hpp"

#include <gtest/gtest.h>

#include <map>

namespace px::engine {
namespace {

using Variables = std::map<std::string, std::string>;

program::Environment holding(Variables values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

Variables told(const Variables& environment, const RankPlan& plan, bool is_mpi = false) {
  Variables all;
  for (const auto& [name, value] : rank_variables(holding(environment), is_mpi, plan))
    all[name] = value;
  return all;
}

RankPlan on_hosts(std::vector<int> hosts, std::string address = "") {
  return {.hosts = std::move(hosts), .address = std::move(address), .ports = {20001, 20002}};
}

const RankPlan of_mpi{.ports = {20001, 20002}};

TEST(RankVariables, TellEnginesOfOneHostTheirRank) {
  EXPECT_EQ(told({{"PX_ENGINE_NUMBER", "1"}}, on_hosts({2})),
            (Variables{{"RANK", "1"},
                       {"WORLD_SIZE", "2"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"GROUP_RANK", "0"},
                       {"MASTER_ADDR", "127.0.0.1"},
                       {"MASTER_PORT", "20001"},
                       {"TORCHELASTIC_RUN_ID", "polyxeus"},
                       {"JAX_COORDINATOR_ADDRESS", "127.0.0.1:20002"}}));
}

struct Case {
  const char* what;
  Variables environment;
  RankPlan plan;
  bool is_mpi;
  std::string place;  // rank of size; local rank of local size; host; address
};

std::string shown(const Case& given) {
  Variables told_all = told(given.environment, given.plan, given.is_mpi);
  const auto value = [&](const char* name) {
    return told_all.count(name) > 0 ? told_all[name] : std::string("-");
  };
  return value("RANK") + " of " + value("WORLD_SIZE") + "; " + value("LOCAL_RANK") + " of " +
         value("LOCAL_WORLD_SIZE") + "; " + value("GROUP_RANK") + "; " + value("MASTER_ADDR");
}

TEST(RankVariables, ComeFromThePlanOrFromTheLauncher) {
  const std::vector<Case> cases{
      {"two hosts by ssh, the last engine of the first",
       {{"PX_ENGINE_NUMBER", "2"}},
       on_hosts({3, 2}, "host1"),
       false,
       "2 of 5; 2 of 3; 0; host1"},
      {"the last engine of the second",
       {{"PX_ENGINE_NUMBER", "4"}},
       on_hosts({3, 2}, "host1"),
       false,
       "4 of 5; 1 of 2; 1; host1"},
      {"an engine that was added to others",
       {{"PX_ENGINE_NUMBER", "1"}},
       of_mpi,
       false,
       "- of -; - of -; -; -"},
      {"more engines than the plan has",
       {{"PX_ENGINE_NUMBER", "2"}},
       on_hosts({2}),
       false,
       "- of -; - of -; -; -"},
      {"by hand", {}, {}, false, "- of -; - of -; -; -"},
      {"local engines in a job script of Slurm",
       {{"PX_ENGINE_NUMBER", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}},
       on_hosts({2}),
       false,
       "1 of 2; 1 of 2; 0; 127.0.0.1"},
      {"Open MPI on one host",
       {{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "2"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
        {"PX_ENGINE_NUMBER", "0"}},
       of_mpi,
       true,
       "1 of 2; 1 of 2; 0; 127.0.0.1"},
      {"Open MPI on the hosts of --hosts",
       {{"OMPI_COMM_WORLD_RANK", "3"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
       on_hosts({3, 1}, "host1"),
       true,
       "3 of 4; 0 of 1; 1; host1"},
      {"Open MPI that maps ranks to hosts in turn",
       {{"OMPI_COMM_WORLD_RANK", "1"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
       on_hosts({2, 2}, "host1"),
       true,
       "1 of 4; 0 of 2; -; host1"},
      {"MPICH on two hosts of two",
       {{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}},
       of_mpi,
       true,
       "3 of 4; 1 of 2; 1; -"},
      {"srun on three hosts",
       {{"PMIX_RANK", "4"},
        {"SLURM_PROCID", "4"},
        {"SLURM_STEP_NUM_TASKS", "5"},
        {"SLURM_LOCALID", "0"},
        {"SLURM_NODEID", "2"},
        {"SLURM_STEP_TASKS_PER_NODE", "2(x2),1"},
        {"SLURM_NTASKS", "5"},
        {"SLURM_STEP_NODELIST", "node[07-08,11]"}},
       of_mpi,
       true,
       "4 of 5; 0 of 1; 2; node07"},
      {"mpiexec in a job of Slurm, whose daemons srun has started",
       {{"OMPI_COMM_WORLD_RANK", "3"},
        {"OMPI_COMM_WORLD_SIZE", "4"},
        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
        {"SLURM_PROCID", "0"},
        {"SLURM_NODEID", "0"},
        {"SLURM_LOCALID", "0"},
        {"SLURM_NTASKS", "4"},
        {"SLURM_JOB_NODELIST", "a1,a2"}},
       of_mpi,
       true,
       "3 of 4; 1 of 2; 1; a1"},
  };
  for (const Case& each : cases) EXPECT_EQ(shown(each), each.place) << each.what;
}

TEST(RankVariables, LeaveThoseAloneThatTheUserHasSet) {
  const Variables given{{"PX_ENGINE_NUMBER", "1"}, {"MASTER_ADDR", "ib0"}, {"MASTER_PORT", "1"}};
  const Variables all = told(given, on_hosts({1, 1}, "host1"));
  EXPECT_FALSE(all.contains("MASTER_ADDR"));
  EXPECT_FALSE(all.contains("MASTER_PORT"));
  EXPECT_EQ(all.at("JAX_COORDINATOR_ADDRESS"), "ib0:20002");
}

TEST(RankVariables, CanBeSwitchedOff) {
  EXPECT_TRUE(
      told({{"PX_ENGINE_NUMBER", "1"}, {"POLYXEUS_RANK_VARIABLES", "0"}}, on_hosts({2})).empty());
}

TEST(RankVariables, HavePortsOfTheirOwnForEachRunOfAnMpiexecThatWasCalledByHand) {
  const auto port = [](const std::string& run) {
    Variables environment{{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "2"},
                          {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
    if (!run.empty()) environment["PMIX_NAMESPACE"] = run;
    Variables all = told(environment, {}, true);
    return all["MASTER_PORT"];
  };
  EXPECT_EQ(port("12345"), port("12345"));
  EXPECT_NE(port("12345"), port("12346"));
  EXPECT_EQ(port(""), "");  // all runs would have the same
}

}  // namespace
}  // namespace px::engine
