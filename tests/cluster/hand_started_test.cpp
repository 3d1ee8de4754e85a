#include "cluster/records/hand_started.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "cluster/records/cluster_list.hpp"
#include "os/private_file.hpp"
#include "wire/json.hpp"

namespace px::cluster {
namespace {

/// Processes that live; their births.
class SomeProcesses final : public os::Processes {
 public:
  std::map<int, std::string> births;
  Instant now() override { return {}; }
  void pause(Duration) override {}
  bool is_alive(int pid) override { return births.contains(pid); }
  void signal(int, int, bool) override {}
  std::optional<WallTime> started_at(int) override { return std::nullopt; }
  std::string birth_of(int pid) override { return births.at(pid); }
};

class HandStartedTest : public testing::Test {
 protected:
  HandStartedTest() { std::filesystem::create_directories(paths_.security()); }
  ~HandStartedTest() override { std::filesystem::remove_all(paths_.root); }

  void write_file(std::optional<ControllerProcess> process, const std::string& cluster_id = "") {
    ClientConnectionInfo info;
    info.registration = info.control = info.mux = info.task = info.iopub = 1;
    info.notification = info.broadcast = 1;
    info.location = "node2";
    info.process = std::move(process);
    const net::ProfilePaths paths{paths_.root, cluster_id};
    ASSERT_TRUE(os::write_file_atomically(paths.client_file(), write_connection_info(info)));
  }
  std::optional<HandStarted> found(std::optional<int> answer) {
    return find_hand_started(paths_, processes_, [&](const auto&) { return answer; });
  }

  net::ProfilePaths paths_{.root = std::filesystem::path(testing::TempDir()) /
                                   ("px_by_hand_" + std::to_string(::getpid())),
                           .cluster_id = ""};
  SomeProcesses processes_;
};

TEST_F(HandStartedTest, IsTheProcessThatItsFileNames) {
  write_file(ControllerProcess{812, "boot:100"});
  processes_.births[812] = "boot:100";
  const auto controller = found(4);
  ASSERT_TRUE(controller && controller->process);
  EXPECT_EQ(controller->process->pid, 812);
  EXPECT_EQ(controller->engine_count, 4);
  EXPECT_EQ(controller->host, "node2");
}

TEST_F(HandStartedTest, IsThereWhileItsProcessRunsAndDoesNotAnswer) {
  write_file(ControllerProcess{812, "boot:100"});
  processes_.births[812] = "boot:100";
  ASSERT_TRUE(found(std::nullopt));
  EXPECT_FALSE(found(std::nullopt)->engine_count);
}

TEST_F(HandStartedTest, IsNotAnotherProcessOfTheSamePid) {
  write_file(ControllerProcess{812, "boot:100"});
  processes_.births[812] = "boot:999";
  EXPECT_FALSE(found(std::nullopt));  // its file was left behind
  ASSERT_TRUE(found(4));              // it runs on another host
  EXPECT_FALSE(found(4)->process);
}

TEST_F(HandStartedTest, OfIpyparallelIsThereIfItAnswers) {
  write_file(std::nullopt);
  EXPECT_FALSE(found(std::nullopt));
  ASSERT_TRUE(found(0));
  EXPECT_FALSE(found(0)->process);
}

TEST_F(HandStartedTest, IsNotSoughtWherePxclusterHasStartedTheController) {
  write_file(std::nullopt);
  const auto answers = [](const auto&) { return std::optional{2}; };
  FoundCluster record{.paths = paths_, .record = {}, .living = {}};
  EXPECT_TRUE(hand_started_beside(paths_, record, processes_, answers));
  record.living.controller = RecordedProcess{.pid = 10, .output_file = ""};
  EXPECT_FALSE(hand_started_beside(paths_, record, processes_, answers));
}

TEST_F(HandStartedTest, NamesTheClustersThatHaveAFileForClients) {
  for (const char* id : {"", "red", "a-b"}) write_file(std::nullopt, id);
  const net::ProfilePaths named{paths_.root, "red"};
  for (const auto& path : net::ProfilePaths::all_beside(named.client_file()))
    ASSERT_TRUE(os::write_file_atomically(path, "{}"));
  ASSERT_TRUE(os::write_file_atomically(named.engine_file(), "{}"));
  EXPECT_EQ(announced_cluster_ids(paths_), (std::vector<std::string>{"", "a-b", "red"}));
}

/// The list of one cluster whose controller was started by hand.
std::vector<ListedCluster> listed(const HandStarted& controller) {
  ListedCluster cluster;
  cluster.found.paths.root = "/ipy/profile_x";
  cluster.found.living.profile_dir = "/ipy/profile_x";
  cluster.by_hand = controller;
  return {cluster};
}

TEST(HandStartedList, SaysThatTheControllerWasStartedByHandAndWhichProcessItIs) {
  const RecordedProcess process{.pid = 812, .output_file = ""};
  EXPECT_EQ(
      list_as_text(listed({"node1", process, 4}), "/ipy", true),
      "PROFILE          CLUSTER ID                       RUNNING ENGINES LAUNCHER        OWNER\n"
      "x                ''                               True          4 started by hand none: "
      "runs as process 812\n");
  EXPECT_EQ(list_as_text(listed({"node2", std::nullopt, std::nullopt}), "/ipy", true),
            "PROFILE          CLUSTER ID                       RUNNING ENGINES LAUNCHER        "
            "OWNER\n"
            "x                ''                               True          ? started by hand "
            "none: runs on node2\n");
  EXPECT_EQ(list_as_text(listed({"node1", process, 4}), "/ipy", false),
            "PROFILE          CLUSTER ID                       RUNNING ENGINES LAUNCHER\n"
            "x                ''                               True          4 started by hand\n");
}

TEST(HandStartedList, CountsEnginesThatPxclusterHasAdded) {
  auto clusters = listed({"node1", RecordedProcess{.pid = 812, .output_file = ""}, 3});
  clusters[0].found.living.engine_sets["1"] = {
      .launcher = "local", .processes = {{"0", {.pid = 20, .output_file = "", .engine_count = 1}}}};
  const std::string text = list_as_text(clusters, "/ipy", false);
  EXPECT_NE(text.find("True          3 Local, started by hand\n"), std::string::npos) << text;
}

TEST(HandStartedList, HasItsProcessInJson) {
  const RecordedProcess process{.pid = 812, .output_file = ""};
  const Json known = Json::parse(list_as_json(listed({"node1", process, 4})))[0];
  EXPECT_EQ(known["by_hand"], (Json{{"pid", 812}, {"host", "node1"}, {"engines", 4}}));
  EXPECT_EQ(known["controller"]["state"]["pid"], 812);
  const Json unknown = Json::parse(list_as_json(listed({"node2", std::nullopt, std::nullopt})))[0];
  EXPECT_EQ(unknown["by_hand"], (Json{{"pid", nullptr}, {"host", "node2"}, {"engines", nullptr}}));
  EXPECT_EQ(unknown["controller"]["state"]["pid"], -1);
  EXPECT_EQ(unknown["cluster"]["profile_dir"], "/ipy/profile_x");
}

}  // namespace
}  // namespace px::cluster
