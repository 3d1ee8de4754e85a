#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "engine/dialing_channels.hpp"
#include "engine/engine_format.hpp"
#include "engine/heart_watch.hpp"
#include "engine/mpi/slurm_job.hpp"
#include "engine/mpi/world.hpp"
#include "tests/os/temporary_folder.hpp"
#include "tests/wire/requests.hpp"

namespace px::engine {
namespace {

using namespace std::chrono_literals;
using testing::Sender;

Instant at(Duration since_start) {
  return Instant{} + since_start;
}

program::Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

// ---------------------------------------------------------------- metadata of replies

class ReplyMetadata : public ::testing::Test {
 protected:
  ReplyMetadata() { format.set_id(EngineId{2}); }
  Json of(const RequestPtr& request, const jupyter::Outcome& outcome) {
    return Json::parse(format.reply_metadata(*request, outcome));
  }
  EngineFormat format{EngineUuid{"e"}};
  Sender sender;
};

TEST_F(ReplyMetadata, RepeatsWhatTheRequestSaidAndHasDefaultsForTheRest) {
  const RequestPtr request = sender.request("apply_request", Json::object(), Channel::shell,
                                            {{"is_coalescing", true}, {"label", "sum"}});
  EXPECT_EQ(of(request, {"ok", WallTime{}}), (Json{{"started", "1970-01-01T00:00:00Z"},
                                                   {"dependencies_met", true},
                                                   {"engine", "e"},
                                                   {"is_broadcast", false},
                                                   {"is_coalescing", true},
                                                   {"original_msg_id", ""},
                                                   {"label", "sum"},
                                                   {"status", "ok"}}));
}

TEST_F(ReplyMetadata, AnErrorNamesTheEngineAndMayAskForAnother) {
  const Json metadata = of(sender.request("apply_request"), {"error", WallTime{}, true});
  EXPECT_EQ(metadata["dependencies_met"], false);
  EXPECT_EQ(metadata["engine_info"], (Json{{"engine_uuid", "e"}, {"engine_id", 2}}));
}

TEST_F(ReplyMetadata, SayHowMuchWasPublishedForOurOwnRequests) {
  jupyter::Outcome outcome{"ok", WallTime{}};
  outcome.published = 12;
  EXPECT_EQ(of(sender.request("call_request"), outcome)["published"], 12);
}

// ---------------------------------------------------------------- topics

TEST(Topic, IsTheOneThatClientsOfIpyparallelSubscribeTo) {
  const auto topic = [](const std::string& type) {
    jupyter::Outgoing message;
    message.type = type;
    message.stream = "stderr";
    return topic_of(message);
  };
  EXPECT_EQ(topic("stream"), "stderr");
  EXPECT_EQ(topic("update_display_data"), "displaypub");
  EXPECT_EQ(topic("shutdown_reply"), "shutdown");
  EXPECT_EQ(topic("comm_msg"), "comm");
  EXPECT_EQ(topic("execute_result"), "execute_result");
}

// ---------------------------------------------------------------- hearts

TEST(HeartWatch, GivesTheControllerUpAfterSoManySilentPeriods) {
  HeartWatch watch{1s, 2, at(0s)};
  EXPECT_FALSE(watch.is_lost(at(1s)));
  EXPECT_TRUE(watch.is_lost(at(2s)));
}

TEST(HeartWatch, APingForgivesAllMisses) {
  HeartWatch watch{1s, 2, at(0s)};
  EXPECT_FALSE(watch.is_lost(at(1s)));
  watch.heard();
  EXPECT_FALSE(watch.is_lost(at(2s)));
  EXPECT_FALSE(watch.is_lost(at(3s)));
  EXPECT_EQ(watch.next_deadline(), at(4s));
}

TEST(HeartWatch, CanBeSwitchedOff) {
  HeartWatch watch{1s, 0, at(0s)};
  EXPECT_FALSE(watch.is_lost(at(1000s)));
  EXPECT_FALSE(watch.next_deadline());
}

// ---------------------------------------------------------------- the world

TEST(World, IsTheOneOfEachLauncher) {
  const auto rank_of = [](const program::Environment& environment) {
    return find_world(environment)->rank.value;
  };
  EXPECT_EQ(rank_of(variables({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}})), 3);
  EXPECT_EQ(rank_of(variables({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}})), 1);
  EXPECT_EQ(rank_of(variables({{"PMIX_RANK", "2"}, {"SLURM_NTASKS", "8"}})), 2);
  EXPECT_EQ(rank_of(variables({{"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}})), 5);
}

/// Of a job that is to end 100 s after 1970 began, asked at 50 s.
std::optional<std::string> why_ends(std::string_view answer, int now = 50) {
  return why_slurm_ends("7", answer, WallTime{std::chrono::seconds(now)});
}

TEST(SlurmJob, SaysWhyItEnds) {
  EXPECT_EQ(why_ends("COMPLETING|TimeLimit|100\n"), "Slurm job 7 ran into its time limit (--time)");
  EXPECT_EQ(why_ends("COMPLETING|None|100\n"), "Slurm job 7 was cancelled (scancel) or preempted");
  EXPECT_EQ(why_ends("CANCELLED|None|100\n"), "Slurm job 7 was cancelled (scancel)");
  EXPECT_EQ(why_ends("COMPLETING|NodeDown|100\n"), "Slurm job 7 was ended by Slurm: NodeDown");
  EXPECT_FALSE(why_ends("RUNNING|None|100\n"));
  EXPECT_FALSE(why_ends(""));
  EXPECT_FALSE(why_ends("slurm_load_jobs error: Invalid job id specified\n"));
}

TEST(SlurmJob, HasRunIntoItsTimeLimitWhereItRunsAfterItsEnd) {
  EXPECT_EQ(why_ends("RUNNING|None|100\n", 100), "Slurm job 7 ran into its time limit (--time)");
  EXPECT_FALSE(why_ends("RUNNING|None|N/A\n", 100));
  EXPECT_EQ(why_ends("CANCELLED|None|90\n", 100), "Slurm job 7 was cancelled (scancel)");
}

TEST(SlurmJob, IsAskedForWhileSlurmSendsSigterm) {
  const os::TemporaryFolder folder;
  const std::filesystem::path squeue = folder.path() / "squeue";
  std::ofstream(squeue) << "#!/bin/sh\n"
                           "kill -TERM $$\n"
                           "echo 'COMPLETING|TimeLimit|100'\n";
  std::filesystem::permissions(squeue, std::filesystem::perms::owner_all);
  const std::string path = folder.path().string() + ":" + std::getenv("PATH");
  const os::ScopedVariable job{"SLURM_JOB_ID", "7"}, programs{"PATH", path.c_str()};
  EXPECT_EQ(why_slurm_ends_this_job(), "Slurm job 7 ran into its time limit (--time)");
}

TEST(World, OpenMpiUnderSlurmIsOpenMpis) {
  const std::optional<World> world = find_world(variables({{"OMPI_COMM_WORLD_RANK", "3"},
                                                           {"OMPI_COMM_WORLD_SIZE", "4"},
                                                           {"SLURM_PROCID", "0"},
                                                           {"SLURM_NTASKS", "1"}}));
  EXPECT_EQ(world->launcher, "Open MPI");
  EXPECT_EQ(world->size, 4);
  EXPECT_EQ(world->pmix_port, 0);
}

TEST(World, SrunWithPmixEndsAllRanksWhenItsServerLosesOne) {
  const auto srun = [](const std::string& run) {
    return find_world(variables({{"PMIX_RANK", "1"},
                                 {"PMIX_SIZE", "2"},
                                 {"PMIX_NAMESPACE", run},
                                 {"PMIX_SERVER_URI4", "pmix-server.70;tcp4://127.0.0.1:53419"}}));
  };
  EXPECT_EQ(srun("slurm.pmix.7.0")->pmix_port, 53419);
  EXPECT_EQ(srun("prterun-host1-812@1")->pmix_port, 0);
}

TEST(World, NothingWhereNoLauncherStartedUsOrTheNumbersMakeNoSense) {
  EXPECT_FALSE(find_world(variables({})));
  EXPECT_FALSE(find_world(variables({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}})));
  EXPECT_FALSE(find_world(variables({{"PMI_RANK", "two"}, {"PMI_SIZE", "2"}})));
}

}  // namespace
}  // namespace px::engine
