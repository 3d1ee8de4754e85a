#include <gtest/gtest.h>

#include "cluster/records/cluster_list.hpp"
#include "cluster/records/cluster_record.hpp"
#include "wire/json.hpp"

namespace px::cluster {
namespace {

ClusterRecord two_local_engines() {
  ClusterRecord record;
  record.profile_dir = "/ipy/profile_default";
  record.n = 2;
  record.controller = RecordedProcess{.pid = 10, .output_file = "/log/c", .engine_count = 0};
  record.engine_sets["1700"] = {
      .launcher = "local",
      .processes = {{"0", {.pid = 20, .output_file = "/log/0", .engine_count = 1}},
                    {"1", {.pid = 21, .output_file = "/log/1", .engine_count = 1}}}};
  return record;
}

RecordedEngineSet three_ranks() {
  return {.launcher = "mpi",
          .processes = {{"0", {.pid = 30, .output_file = "/log/m", .engine_count = 3}}}};
}

TEST(ClusterRecord, IsReadBackAsItWasWritten) {
  EXPECT_EQ(*read_cluster_record(write_cluster_record(two_local_engines())), two_local_engines());
}

TEST(ClusterRecord, HasTheShapeThatIpyparallelReads) {
  const Json file = *unpack(Packer::json, write_cluster_record(two_local_engines()));
  EXPECT_EQ(file["cluster"]["class"], "ipyparallel.cluster.cluster.Cluster");
  EXPECT_EQ(file["controller"]["class"], "local");
  EXPECT_EQ(file["controller"]["state"]["state"], "running");
  const Json& set = file["engines"]["sets"]["1700"];
  EXPECT_EQ(set["pid"], -1);
  EXPECT_EQ(set["n"], 2);
  EXPECT_EQ(set["engines"]["1"]["pid"], 21);
}

TEST(ClusterRecord, WritesAnMpiSetAsOneProcess) {
  ClusterRecord record = two_local_engines();
  record.engine_launcher = "mpi";
  record.engine_sets = {{"1700", three_ranks()}};
  const Json file = *unpack(Packer::json, write_cluster_record(record));
  EXPECT_EQ(file["engines"]["class"], "mpi");
  EXPECT_EQ(file["engines"]["sets"]["1700"]["pid"], 30);
  EXPECT_EQ(file["engines"]["sets"]["1700"]["n"], 3);
  EXPECT_FALSE(file["engines"]["sets"]["1700"].contains("engines"));
}

TEST(ClusterRecord, WritesSetsOfTwoKindsAsLocalOnes) {
  ClusterRecord record = two_local_engines();
  record.engine_sets["1800"] = three_ranks();
  const Json file = *unpack(Packer::json, write_cluster_record(record));
  EXPECT_EQ(file["engines"]["class"], "local");
  EXPECT_EQ(file["engines"]["sets"]["1800"]["engines"]["0"]["pid"], 30);
  EXPECT_EQ(read_cluster_record(file.dump())->engine_count(), 5);
}

TEST(ClusterRecord, RefusesWhatIsNoClusterFile) {
  for (const char* text : {"", "[]", "{}", "{\"cluster\": 3}", "{\"cluster\": "})
    EXPECT_FALSE(read_cluster_record(text)) << text;
}

TEST(ClusterRecord, SurvivesMembersOfWrongTypes) {
  const auto record = read_cluster_record(
      R"({"cluster": {"n": "x", "delay": [], "controller_args": 3}, "controller": {"state": 1},
          "engines": {"class": 2, "sets": {"1": 4, "2": {"pid": "x", "engines": [1]}}}})");
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->controller);
  EXPECT_TRUE(record->engine_pids().empty());
}

TEST(ClusterRecord, LosesWhatIsDead) {
  const ClusterRecord living = living_part(two_local_engines(), [](const RecordedProcess& process) {
    return process.pid == 10 || process.pid == 21;
  });
  EXPECT_TRUE(living.controller);
  EXPECT_EQ(living.engine_pids(), std::vector<int>{21});
  EXPECT_TRUE(
      living_part(two_local_engines(), [](const RecordedProcess&) { return false; }).is_empty());
}

TEST(ClusterRecord, JoinsTheEnginesOfTwoStarters) {
  ClusterRecord more = two_local_engines();
  more.controller.reset();
  more.engine_sets = {{"1800", three_ranks()}};
  const ClusterRecord joined = merge_records(two_local_engines(), more);
  EXPECT_EQ(joined.controller->pid, 10);
  EXPECT_EQ(joined.engine_count(), 5);
}

TEST(ClusterList, HasARowAsIpclusterPrintsIt) {
  FoundCluster cluster{.paths = {.root = "/ipy/profile_default", .cluster_id = ""},
                       .record = two_local_engines(),
                       .living = two_local_engines()};
  EXPECT_EQ(list_as_text({{cluster, std::nullopt}}, "/ipy", false),
            "PROFILE          CLUSTER ID                       RUNNING ENGINES LAUNCHER\n"
            "default          ''                               True          2 Local\n");
  EXPECT_EQ(list_as_text({{cluster, std::nullopt}}, "/ipy", true),
            "PROFILE          CLUSTER ID                       RUNNING ENGINES LAUNCHER   OWNER\n"
            "default          ''                               True          2 Local      none: "
            "runs until stopped\n");
  const std::string owned =
      list_as_text({{cluster, ClusterOwner{812, "python fit.py"}}}, "/ipy", true);
  EXPECT_NE(owned.find("Local      812 python fit.py\n"), std::string::npos) << owned;
}

TEST(ClusterRecord, TellsWithWhichProcessTheClusterEnds) {
  ClusterRecord record = two_local_engines();
  const auto command_of = [](int pid) { return "command of " + std::to_string(pid); };
  EXPECT_FALSE(owner_of(record, command_of));
  record.controller->owner = 812;
  const auto read = read_cluster_record(write_cluster_record(record));
  ASSERT_TRUE(read);
  ASSERT_TRUE(owner_of(*read, command_of));
  EXPECT_EQ(owner_of(*read, command_of)->command, "command of 812");
}

TEST(ClusterList, NamesTheLauncherThatTheUserChose) {
  ClusterRecord record = two_local_engines();
  record.engine_sets.begin()->second.started_by = "slurm";
  const auto read = read_cluster_record(write_cluster_record(record));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->engine_launcher, "local");  // by which ipcluster stops it
  FoundCluster cluster{.paths = {.root = "/ipy/profile_default", .cluster_id = ""},
                       .record = *read,
                       .living = *read};
  EXPECT_NE(list_as_text({{cluster, std::nullopt}}, "/ipy", false).find("2 Slurm\n"),
            std::string::npos);
}

TEST(ClusterList, NamesTheFolderOfAProfileElsewhere) {
  FoundCluster cluster{.paths = {.root = "/else/profile_x", .cluster_id = "abc"},
                       .record = two_local_engines(),
                       .living = two_local_engines()};
  cluster.living.controller.reset();
  const std::string row = list_as_text({{cluster, std::nullopt}}, "/ipy", false);
  EXPECT_NE(row.find("/else/profile_x"), std::string::npos);
  EXPECT_NE(row.find("abc                              False"), std::string::npos);
}

TEST(ClusterList, IsAnEmptyJsonArrayWithoutClusters) {
  EXPECT_EQ(list_as_json({}), "[]\n");
}

}  // namespace
}  // namespace px::cluster
