#include <gtest/gtest.h>

#include <map>
#include <set>

#include "cluster/supervise/restarter.hpp"

namespace px::cluster {
namespace {

/// pxclusters that do what they are asked to, the later the more often somebody looks.
class FakeSupervisors final : public os::Processes {
 public:
  Instant now() override { return now_; }
  void pause(Duration time) override {
    now_ += time;
    for (const int pid : std::exchange(asked_, {})) {
      if (dies.contains(pid)) {
        living.erase(pid);
        continue;
      }
      RestartReport report = outcome[pid];
      report.restarts = reports[pid].restarts + 1;
      reports[pid] = report;
    }
  }
  bool is_alive(int pid) override { return living.contains(pid); }
  void signal(int pid, int signal, bool) override {
    EXPECT_EQ(signal, restart_signal());
    order.push_back(pid);
    asked_.insert(pid);
  }
  std::optional<WallTime> started_at(int) override { return std::nullopt; }

  RestartChannel channel() {
    return {[this](int pid) {
              const auto found = reports.find(pid);
              return found == reports.end() ? std::nullopt : std::optional(found->second);
            },
            [this](int pid, const std::vector<PlacedEngine>& engines) {
              orders[pid] = engines;
              return Result<void>{};
            }};
  }

  std::set<int> living{5, 6}, dies;
  std::map<int, RestartReport> outcome{{5, {0, 4, ""}}, {6, {0, 2, ""}}};
  std::map<int, RestartReport> reports;
  std::vector<int> order;
  std::map<int, std::vector<PlacedEngine>> orders;

 private:
  std::set<int> asked_;
  Instant now_{};
};

/// Four engines of the pxcluster 5, which started the controller, and two of the pxcluster 6.
ClusterRecord two_sets() {
  ClusterRecord record;
  record.controller = {.pid = 10, .output_file = "", .engine_count = 0, .supervisor = 5};
  record.engine_sets["a"] = {
      .launcher = "mpi",
      .processes = {{"0", {.pid = 20, .output_file = "", .engine_count = 4, .supervisor = 5}}}};
  record.engine_sets["b"] = {
      .launcher = "local",
      .processes = {{"0", {.pid = 30, .output_file = "", .engine_count = 2, .supervisor = 6}}}};
  return record;
}

TEST(Restarter, RestartsEachSetOnceThatOfTheControllerFirst) {
  FakeSupervisors supervisors;
  EXPECT_EQ(*restart_engines(two_sets(), {}, supervisors, supervisors.channel()), 6);
  EXPECT_EQ(supervisors.order, (std::vector<int>{5, 6}));
}

TEST(Restarter, RestartsOneSet) {
  FakeSupervisors supervisors;
  EXPECT_EQ(*restart_engines(two_sets(), {"b"}, supervisors, supervisors.channel()), 2);
  EXPECT_EQ(supervisors.order, (std::vector<int>{6}));
}

TEST(Restarter, TellsTheirPxclusterAloneWhichEnginesToRestart) {
  FakeSupervisors supervisors;
  const RestartChoice choice{"", {{EngineId{5}, "b", 1}}};
  supervisors.outcome[6].engine_count = 1;
  EXPECT_EQ(*restart_engines(two_sets(), choice, supervisors, supervisors.channel()), 1);
  EXPECT_EQ(supervisors.order, (std::vector<int>{6}));
  EXPECT_EQ(supervisors.orders[6], choice.engines);
  EXPECT_EQ(*restart_engines(two_sets(), {}, supervisors, supervisors.channel()), 5);
  EXPECT_TRUE(supervisors.orders[6].empty());
}

TEST(Restarter, AsksTheControllersPxclusterForEnginesOfASetThatHasEnded) {
  FakeSupervisors supervisors;
  ClusterRecord record = two_sets();
  record.engine_sets.erase("a");
  const RestartChoice choice{"", {{EngineId{0}, "a", 0}}};
  EXPECT_TRUE(restart_engines(record, choice, supervisors, supervisors.channel()));
  EXPECT_EQ(supervisors.order, (std::vector<int>{5}));
  EXPECT_EQ(supervisors.orders[5], choice.engines);
}

TEST(Restarter, RestartsRanksOfAWorldTogetherOnly) {
  const PlacedEngine first{EngineId{0}, "a", 0}, second{EngineId{1}, "a", 1},
      local{EngineId{2}, "b", 0};
  const std::vector<PlacedEngine> known{first, second, local};
  const auto can = check_single_starts(two_sets(), {"", {second}}, known);
  ASSERT_FALSE(can);
  EXPECT_EQ(can.error().what,
            "engine 1 is a rank of an MPI world, whose ranks start together: restart all of them "
            "with `pxcluster restart` or rc.restart_engines(), and use keep= to keep variables");
  EXPECT_TRUE(check_single_starts(two_sets(), {"", {first, second}}, known));
  EXPECT_TRUE(check_single_starts(two_sets(), {"", {local}}, known));
  ClusterRecord job = two_sets();
  job.engine_sets["b"].started_by = "slurm";
  EXPECT_FALSE(check_single_starts(job, {"", {local}}, {local, {EngineId{3}, "b", 1}}));
}

TEST(Restarter, RestartsASecondTime) {
  FakeSupervisors supervisors;
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(restart_engines(two_sets(), {"b"}, supervisors, supervisors.channel()));
  EXPECT_EQ(supervisors.reports[6].restarts, 2);
}

TEST(Restarter, NamesTheSetsThatThereAre) {
  FakeSupervisors supervisors;
  const auto done = restart_engines(two_sets(), {"c"}, supervisors, supervisors.channel());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "there is no engine set 'c'; there are: a, b");
}

TEST(Restarter, SaysWhyEnginesDidNotComeBack) {
  FakeSupervisors supervisors;
  supervisors.outcome[5] = {0, 3, "1 of 4 engines did not register within 60 s"};
  const auto done = restart_engines(two_sets(), {}, supervisors, supervisors.channel());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "1 of 4 engines did not register within 60 s");
}

TEST(Restarter, DoesNotWaitForAPxclusterThatEnds) {
  FakeSupervisors supervisors;
  supervisors.dies = {5};
  EXPECT_FALSE(restart_engines(two_sets(), {}, supervisors, supervisors.channel()));
}

TEST(Restarter, RefusesEnginesOfOtherPrograms) {
  FakeSupervisors supervisors;
  ClusterRecord record = two_sets();
  record.controller->supervisor = 0;
  for (auto& [id, set] : record.engine_sets) set.processes["0"].supervisor = 0;
  const auto done = restart_engines(record, {}, supervisors, supervisors.channel());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace px::cluster
