#include <gtest/gtest.h>

#include <map>

#include "cluster/supervise/stopper.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

/// Processes with a will of their own and a clock that only pause() moves.
class FakeProcesses final : public os::Processes {
 public:
  /// It ends when it gets a signal that is at least `yields_to` strong: SIGTERM, SIGKILL or none.
  void add(int pid, int yields_to = SIGTERM) { yields_to_[pid] = yields_to; }

  Instant now() override { return now_; }
  void pause(Duration time) override { now_ += time; }
  bool is_alive(int pid) override { return yields_to_.contains(pid); }
  void signal(int pid, int signal, bool) override {
    sent.emplace_back(pid, signal);
    if (!yields_to_.contains(pid)) return;
    const int will = yields_to_[pid];
    if (will == signal || (will == SIGTERM && signal == SIGKILL)) end(pid);
  }
  std::optional<WallTime> started_at(int) override { return std::nullopt; }
  std::string birth_of(int pid) override { return births.contains(pid) ? births.at(pid) : ""; }

  std::map<int, std::string> births;
  std::vector<std::pair<int, int>> sent;
  std::map<int, std::vector<int>> takes_along;  ///< pid -> those that end with it

 private:
  void end(int pid) {
    yields_to_.erase(pid);
    for (const int other : takes_along[pid]) yields_to_.erase(other);
  }
  std::map<int, int> yields_to_;
  Instant now_{};
};

using Sent = std::vector<std::pair<int, int>>;

ClusterRecord controller_10_engine_20() {
  ClusterRecord record;
  record.controller = RecordedProcess{.pid = 10, .output_file = "", .engine_count = 0};
  record.engine_sets["1"] = {
      .launcher = "local", .processes = {{"0", {.pid = 20, .output_file = "", .engine_count = 1}}}};
  return record;
}

TEST(Stopper, AsksTheSupervisorAndWaitsForIt) {
  FakeProcesses processes;
  for (const int pid : {5, 10, 20}) processes.add(pid);
  processes.takes_along[5] = {10, 20};
  EXPECT_TRUE(stop_processes(controller_10_engine_20(), 5, SIGTERM, processes));
  EXPECT_EQ(processes.sent, (Sent{{5, SIGTERM}}));
}

TEST(Stopper, SignalsNobodyWhoHasGotTheNumberOfAProcessThatHasEnded) {
  FakeProcesses processes;
  for (const int pid : {10, 20}) processes.add(pid);
  processes.births = {{10, "boot:1"}, {20, "boot:900"}};
  ClusterRecord record = controller_10_engine_20();
  record.controller->birth = "boot:1";
  record.engine_sets.at("1").processes.at("0").birth = "boot:2";
  EXPECT_TRUE(stop_processes(record, std::nullopt, SIGTERM, processes));
  EXPECT_EQ(processes.sent, (Sent{{10, SIGTERM}}));
}

TEST(Stopper, EndsTheEnginesAndThenTheControllerWithoutASupervisor) {
  FakeProcesses processes;
  for (const int pid : {10, 20}) processes.add(pid);
  EXPECT_TRUE(stop_processes(controller_10_engine_20(), std::nullopt, SIGTERM, processes));
  EXPECT_EQ(processes.sent, (Sent{{20, SIGTERM}, {10, SIGTERM}}));
}

TEST(Stopper, KillsWhatDoesNotEndByItself) {
  FakeProcesses processes;
  processes.add(10);
  processes.add(20, SIGKILL);
  EXPECT_TRUE(stop_processes(controller_10_engine_20(), std::nullopt, SIGTERM, processes));
  EXPECT_EQ(processes.sent, (Sent{{20, SIGTERM}, {20, SIGKILL}, {10, SIGTERM}}));
  EXPECT_GE(processes.now(), Instant{} + 5s);
}

TEST(Stopper, NamesWhatNothingCanEnd) {
  FakeProcesses processes;
  processes.add(10);
  processes.add(20, 0);
  const auto stopped = stop_processes(controller_10_engine_20(), std::nullopt, SIGTERM, processes);
  ASSERT_FALSE(stopped);
  EXPECT_NE(stopped.error().what.find("20"), std::string::npos);
}

TEST(Stopper, EndsEnginesThatTheSupervisorDoesNotKnow) {
  FakeProcesses processes;
  for (const int pid : {5, 10, 20}) processes.add(pid);
  processes.takes_along[5] = {10};
  EXPECT_TRUE(stop_processes(controller_10_engine_20(), 5, SIGTERM, processes));
  EXPECT_EQ(processes.sent, (Sent{{5, SIGTERM}, {20, SIGTERM}}));
}

TEST(Stopper, LeavesClustersOfOtherLaunchersToIpcluster) {
  FakeProcesses processes;
  ClusterRecord record = controller_10_engine_20();
  record.engine_launcher = "ssh";
  EXPECT_FALSE(stop_processes(record, std::nullopt, SIGTERM, processes));
  EXPECT_TRUE(processes.sent.empty());
}

}  // namespace
}  // namespace px::cluster
