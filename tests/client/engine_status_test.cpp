#include "client/engine_status.hpp"

#include <gtest/gtest.h>

#include "client/memory_use.hpp"

namespace px::client {
namespace {

std::vector<EngineStatus> three() {
  EngineStatus busy{.id = EngineId{0},
                    .host = "node1",
                    .rank = 0,
                    .pid = 812,
                    .language = "python",
                    .state = "busy",
                    .silent_for = {},
                    .runs = "solve(A, b)",
                    .runs_for = 200.4,
                    .msg_id = "x_1",
                    .queue = 2,
                    .memory = 128.0 * (1 << 20),
                    .cpu = 7300.0};
  EngineStatus idle{.id = EngineId{1},
                    .state = "idle",
                    .silent_for = {},
                    .runs_for = {},
                    .memory = {},
                    .cpu = {}};
  EngineStatus deaf{.id = EngineId{10},
                    .host = "node2",
                    .state = "no answer",
                    .silent_for = 12.2,
                    .runs_for = {},
                    .queue = 1,
                    .memory = {},
                    .cpu = {}};
  return {busy, idle, deaf};
}

TEST(EngineStatus, IsATableForPeople) {
  EXPECT_EQ(status_as_text(three()),
            "ENGINE  HOST   RANK  PID  LANGUAGE  STATE               SINCE       QUEUE  MEMORY   "
            "CPU        RUNS\n"
            "0       node1  0     812  python    busy                3 min 20 s  2      128 MiB  "
            "2 h 1 min  solve(A, b)\n"
            "1       -      -     -    -         idle                -           0      -        "
            "-\n"
            "10      node2  -     -    -         no answer for 12 s  -           1      -        "
            "-\n");
}

TEST(EngineStatus, HasAColumnOfGpusWhereThereAreAny) {
  auto engines = three();
  EXPECT_TRUE(status_as_json(engines)[0]["gpus"].is_null());
  engines[0].gpus = "2,3";
  const std::string text = status_as_text(engines);
  EXPECT_EQ(text.substr(0, text.find("SINCE")),
            "ENGINE  HOST   RANK  PID  LANGUAGE  GPU  STATE               ");
  EXPECT_NE(text.find("812  python    2,3  busy"), std::string::npos);
  EXPECT_NE(text.find("-    -         -    idle"), std::string::npos);
  EXPECT_EQ(status_as_json(engines)[0]["gpus"], "2,3");
}

TEST(EngineStatus, NamesTheEnginesOfABrokenWorldBelowTheTable) {
  auto engines = three();
  const std::string whole = status_as_text(engines);
  engines[0].world_broken = engines[2].world_broken = "MPI world broken: rank 2 died (SIGKILL)";
  EXPECT_EQ(status_as_text(engines),
            whole + "\nengines 0, 10: MPI world broken: rank 2 died (SIGKILL)\n");
  EXPECT_EQ(status_as_json(engines)[0]["world_broken"], "MPI world broken: rank 2 died (SIGKILL)");
  EXPECT_TRUE(status_as_json(engines)[1]["world_broken"].is_null());
}

TEST(EngineStatus, ListsEnginesThatWereLostWithTheReason) {
  EngineStatus lost;
  lost.id = EngineId{3};
  lost.host = "node2";
  lost.state = "lost";
  lost.silent_for = 40.0;
  lost.rank = 3;
  lost.why_lost = "its process was killed by SIGKILL";
  EXPECT_EQ(status_as_text({lost}),
            "ENGINE  HOST   RANK  PID  LANGUAGE  STATE          SINCE  QUEUE  MEMORY  CPU  RUNS\n"
            "3       node2  3     -    -         lost 40 s ago  -      0      -       -\n"
            "\nengines 3: lost: its process was killed by SIGKILL\n");
  const Json row = status_as_json({lost})[0];
  EXPECT_EQ(row["why_lost"], "its process was killed by SIGKILL");
  EXPECT_EQ(row["silent_for"], 40);
}

TEST(EngineStatus, TellsBelowTheTableWhetherMpiCallsCanBeInterrupted) {
  auto engines = three();
  const std::string table = status_as_text(engines);
  engines[0].mpi = engines[1].mpi = "Open MPI v4.1.4";
  engines[0].mpi_interrupts = engines[1].mpi_interrupts = "on";
  EXPECT_EQ(status_as_text(engines),
            table + "\nengines 0, 1: interrupts of MPI calls: on (Open MPI v4.1.4)\n");
  EXPECT_EQ(status_as_json(engines)[0]["mpi_interrupts"], "on");
  EXPECT_TRUE(status_as_json(engines)[2]["mpi"].is_null());
}

TEST(EngineStatus, TellsBelowTheTableWhatArraysTakeOfSharedMemory) {
  auto engines = three();
  const std::string table = status_as_text(engines);
  const double gib = 1 << 30;
  engines[0].shared_memory = {{{"26:7", 64 << 20}, {"26:8", 1 << 20}}, {}, gib, 2 * gib};
  engines[1].host = "node1";
  engines[1].shared_memory = {{{"26:7", 64 << 20}}, {}, gib, 2 * gib};
  engines[2].shared_memory = {{}, {}, gib, 2 * gib};
  const auto hosts = memory_use(engines, Json::object());
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_EQ(hosts[0].bytes(), std::uint64_t{65} << 20);
  EXPECT_EQ(
      memory_as_text(hosts),
      "shared memory of node1: 68.2 MB in arrays (engine 0: 1.0 MB; engines 0 and 1: 67.1 MB), 1.1 "
      "GB of 2.1 GB are free\n");
  EXPECT_NE(status_as_text(engines).find("\n\n" + memory_as_text(hosts)), std::string::npos);
  EXPECT_EQ(memory_as_json(hosts)[0]["segments"][0],
            (Json{{"bytes", 64 << 20}, {"engines", {0, 1}}, {"client", false}}));
}

TEST(EngineStatus, TellsApartWhatLiesInFilesOnTheDisk) {
  auto engines = three();
  const double gib = 1 << 30;
  engines[0].shared_memory = {{{"26:8", 1 << 20}}, {{"8:1", 64 << 20}}, gib, 2 * gib};
  const auto hosts = memory_use(engines, Json::object());
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts[0].bytes(), std::uint64_t{1} << 20);
  EXPECT_EQ(memory_as_text(hosts),
            "shared memory of node1: 1.0 MB in arrays (engine 0: 1.0 MB), 1.1 GB of 2.1 GB are "
            "free; in files on its disk 67.1 MB in arrays (engine 0: 67.1 MB)\n");
  EXPECT_EQ(memory_as_json(hosts)[0]["on_disk"],
            (Json::array({{{"bytes", 64 << 20}, {"engines", {0}}, {"client", false}}})));
}

TEST(EngineStatus, TellsWhatTheAskingClientHolds) {
  const Json own{{"hostname", "node1"},
                 {"shared_memory", {{"segments", {{"26:7", 1u << 20}}}, {"free", 5}}}};
  const auto hosts = memory_use({}, own);
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_TRUE(hosts[0].segments.at(0).has_client);
  EXPECT_NE(memory_as_text(hosts).find("(this client: "), std::string::npos);
  EXPECT_TRUE(memory_use({}, Json::object()).empty());
  EXPECT_FALSE(read_shared_memory(Json{{"shared_memory", 5}}));
}

TEST(EngineStatus, IsJsonWhoseUnknownValuesAreNull) {
  const Json rows = status_as_json(three());
  EXPECT_EQ(rows[0]["runs"], "solve(A, b)");
  EXPECT_EQ(rows[0]["rank"], 0);
  EXPECT_TRUE(rows[1]["host"].is_null());
  EXPECT_EQ(rows[2]["silent_for"], 12.2);
  EXPECT_TRUE(rows[0]["measures"].is_null());
}

TEST(EngineStatus, TheJsonHasWhatTheControllerHasMeasuredOfEachEngine) {
  const Json measures{{"engines", {{{"id", 0}, {"tasks", 3}}, {{"id", "malformed"}}, 7}}};
  const Json rows = status_as_json(three(), measures);
  EXPECT_EQ(rows[0]["measures"]["tasks"], 3);
  EXPECT_TRUE(rows[1]["measures"].is_null());
}

}  // namespace
}  // namespace px::client
