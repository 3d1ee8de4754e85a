#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "cluster/records/record_file.hpp"
#include "os/host.hpp"
#include "os/private_file.hpp"

namespace px::cluster {
namespace {

TEST(RecordFile, LosesNothingWhereTwoWriteAtTheSameTime) {
  net::ProfilePaths paths{.root = std::filesystem::path(testing::TempDir()) /
                                  ("px_record_" + std::to_string(::getpid())),
                          .cluster_id = ""};
  std::filesystem::create_directories(paths.security());
  constexpr int rounds = 300;
  const RecordedProcess process{.pid = ::getpid(), .output_file = "", .engine_count = 1};
  const auto save = [&](bool is_controller) {
    os::LocalProcesses processes;
    for (int round = 1; round <= rounds; ++round) {
      ClusterRecord own;
      RecordedProcess mine = process;
      mine.owner = round;
      if (is_controller)
        own.controller = mine;
      else
        own.engine_sets["1"] = {.launcher = "local", .processes = {{"0", mine}}};
      EXPECT_TRUE(save_cluster(paths, own, is_controller ? "" : "1", is_controller, processes));
    }
  };
  std::thread engines{[&] { save(false); }};
  save(true);
  engines.join();
  os::LocalProcesses processes;
  const auto found = load_cluster(paths, processes);
  std::filesystem::remove_all(paths.root);
  ASSERT_TRUE(found);
  ASSERT_TRUE(found->record.controller);
  EXPECT_EQ(found->record.controller->owner, rounds);
  ASSERT_TRUE(found->record.engine_sets.contains("1"));
  EXPECT_EQ(found->record.engine_sets.at("1").processes.at("0").owner, rounds);
}

class RecordOfHosts : public testing::Test {
 protected:
  RecordOfHosts() {
    std::filesystem::create_directories(paths_.security());
    std::filesystem::create_directories(paths_.pid());
  }
  ~RecordOfHosts() override { std::filesystem::remove_all(paths_.root); }
  /// Writes a file that a pxcluster on this host has written.
  void write(const ClusterRecord& record) {
    ASSERT_TRUE(os::write_file_atomically(paths_.cluster_file(), write_cluster_record(record)));
  }
  static RecordedProcess on(const std::string& host, const std::string& boot) {
    return {.pid = 1, .output_file = "", .engine_count = 1, .birth = boot + ":1", .host = host};
  }
  ClusterRecord read() { return load_cluster(paths_, processes_)->record; }

  net::ProfilePaths paths_{.root = std::filesystem::path(testing::TempDir()) /
                                   ("px_hosts_" + std::to_string(::getpid())),
                           .cluster_id = ""};
  os::LocalProcesses processes_;
};

TEST_F(RecordOfHosts, AClusterOnAnotherHostIsNotTakenForDead) {
  ClusterRecord record;
  record.controller = on("node2", "another-boot");
  write(record);
  const auto found = load_cluster(paths_, processes_);
  EXPECT_TRUE(found->living.is_empty());
  EXPECT_EQ(runs_elsewhere(paths_, found), "a process on node2 (not visible from here)");
}

TEST_F(RecordOfHosts, AClusterOfThisHostThatWasStartedAgainIsDead) {
  ClusterRecord record;
  record.controller = on(os::host_name(), "another-boot");
  write(record);
  EXPECT_FALSE(runs_elsewhere(paths_, load_cluster(paths_, processes_)));
}

TEST_F(RecordOfHosts, EnginesThatAreAddedHereForgetNothingThatRunsElsewhere) {
  ClusterRecord record;
  record.controller = on("node2", "another-boot");
  record.engine_sets["1"] = {.launcher = "local",
                             .processes = {{"0", on("node2", "another-boot")}}};
  record.engine_sets["2"] = {.launcher = "local",
                             .processes = {{"0", on(os::host_name(), "another-boot")}}};
  write(record);
  ClusterRecord own;
  own.engine_sets["3"] = {.launcher = "local",
                          .processes = {{"0", {.pid = ::getpid(), .output_file = ""}}}};
  ASSERT_TRUE(save_cluster(paths_, own, "3", false, processes_));
  EXPECT_EQ(read().controller, record.controller);
  EXPECT_TRUE(read().engine_sets.contains("1"));
  EXPECT_FALSE(read().engine_sets.contains("2"));
  EXPECT_EQ(read().engine_sets.at("3").processes.at("0").host, os::host_name());
}

TEST_F(RecordOfHosts, TheEndOfTheControllerIsTheEndOfAll) {
  ClusterRecord record;
  record.controller = {.pid = ::getpid(), .output_file = ""};
  record.engine_sets["1"] = {.launcher = "local",
                             .processes = {{"0", on("node2", "another-boot")}}};
  write(record);
  ASSERT_TRUE(save_cluster(paths_, {}, "", true, processes_));
  EXPECT_FALSE(std::filesystem::exists(paths_.cluster_file()));
}

}  // namespace
}  // namespace px::cluster
