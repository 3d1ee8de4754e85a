#include <gtest/gtest.h>

#include <csignal>
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

  ReadRestartReport reader() {
    return [this](int pid) {
      const auto found = reports.find(pid);
      return found == reports.end() ? std::nullopt : std::optional(found->second);
    };
  }

  std::set<int> living{5, 6}, dies;
  std::map<int, RestartReport> outcome{{5, {0, 4, ""}}, {6, {0, 2, ""}}};
  std::map<int, RestartReport> reports;
  std::vector<int> order;

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
  EXPECT_EQ(*restart_engines(two_sets(), "", supervisors, supervisors.reader()), 6);
  EXPECT_EQ(supervisors.order, (std::vector<int>{5, 6}));
}

TEST(Restarter, RestartsOneSet) {
  FakeSupervisors supervisors;
  EXPECT_EQ(*restart_engines(two_sets(), "b", supervisors, supervisors.reader()), 2);
  EXPECT_EQ(supervisors.order, (std::vector<int>{6}));
}

TEST(Restarter, RestartsASecondTime) {
  FakeSupervisors supervisors;
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(restart_engines(two_sets(), "b", supervisors, supervisors.reader()));
  EXPECT_EQ(supervisors.reports[6].restarts, 2);
}

TEST(Restarter, NamesTheSetsThatThereAre) {
  FakeSupervisors supervisors;
  const auto done = restart_engines(two_sets(), "c", supervisors, supervisors.reader());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "there is no engine set 'c'; there are: a, b");
}

TEST(Restarter, SaysWhyEnginesDidNotComeBack) {
  FakeSupervisors supervisors;
  supervisors.outcome[5] = {0, 3, "1 of 4 engines did not register within 60 s"};
  const auto done = restart_engines(two_sets(), "", supervisors, supervisors.reader());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "1 of 4 engines did not register within 60 s");
}

TEST(Restarter, DoesNotWaitForAPxclusterThatEnds) {
  FakeSupervisors supervisors;
  supervisors.dies = {5};
  EXPECT_FALSE(restart_engines(two_sets(), "", supervisors, supervisors.reader()));
}

TEST(Restarter, RefusesEnginesOfOtherPrograms) {
  FakeSupervisors supervisors;
  ClusterRecord record = two_sets();
  record.controller->supervisor = 0;
  for (auto& [id, set] : record.engine_sets) set.processes["0"].supervisor = 0;
  const auto done = restart_engines(record, "", supervisors, supervisors.reader());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unsupported);
}

}  // namespace
}  // namespace px::cluster
