#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "cluster/records/record_file.hpp"

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

}  // namespace
}  // namespace px::cluster
