#include "magics/top_table.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using namespace std::chrono_literals;
using client::EnginePlace;
using client::EngineStatus;

Instant after(Duration start) {
  return Instant{} + 1h + start;
}

EngineStatus engine_at_work(int id, double cpu = 10) {
  EngineStatus engine;
  engine.id = EngineId{id};
  engine.host = "node1";
  engine.pid = 800 + id;
  engine.state = "busy";
  engine.runs = "solve(A, b)";
  engine.runs_for = 42;
  engine.msg_id = "m" + std::to_string(id);
  engine.queue = 2;
  engine.memory = 128.0 * (1 << 20);
  engine.cpu = cpu;
  return engine;
}

EngineStatus engine_in(int id, const std::string& state, std::optional<double> silent_for = {}) {
  EngineStatus engine;
  engine.id = EngineId{id};
  engine.state = state;
  engine.silent_for = silent_for;
  return engine;
}

EnginePlace in_barrier_at_line_3(int id) {
  EnginePlace place{.id = EngineId{id},
                    .state = EnginePlace::State::busy,
                    .msg_id = "m" + std::to_string(id),
                    .seconds = 42,
                    .line = 3,
                    .source = "comm.Barrier()",
                    .is_cell = true};
  place.mpi = client::MpiWait{.call = "MPI_Barrier", .seconds = 40};
  return place;
}

TEST(TopTable, SaysWhatEachEngineDoesAndInWhichCall) {
  TopTable table;
  table.look({engine_at_work(0), engine_in(1, "idle")}, {in_barrier_at_line_3(0)}, after(0s));
  EXPECT_EQ(
      table.lines(10),
      (std::vector<std::string>{
          "2 engines: 1 busy, 1 idle; 2 requests wait, CPU 0%, memory 128 MiB",
          "ENGINE  HOST   STATE  FOR   CPU  MEMORY   QUEUE  CALL                  RUNS",
          "0       node1  busy   42 s  -    128 MiB  2      MPI_Barrier for 40 s  cell line 3: "
          "comm.Barrier()",
          "1       -      idle   -     -    -        0      -"}));
}

TEST(TopTable, OneEngineIsSaidToBeOne) {
  TopTable table;
  table.look({engine_in(1, "idle")}, {}, after(0s));
  EXPECT_EQ(table.lines(1).at(0).find("1 engine: 1 idle; 0 requests wait, "), 0U);
  table.look({engine_in(0, "idle"), engine_in(1, "idle")}, {}, after(1s));
  EXPECT_EQ(table.lines(1).back(), "... and 1 more engine: -t selects engines");
}

TEST(TopTable, TheShareOfAProcessorIsThatSinceTheLookBefore) {
  TopTable table;
  table.look({engine_at_work(0, 10)}, {}, after(0s));
  EXPECT_FALSE(table.rows().at(0).cpu_percent);
  table.look({engine_at_work(0, 13)}, {}, after(2s));
  EXPECT_EQ(table.rows().at(0).cpu_percent, 150);
}

TEST(TopTable, TheShareThatTheControllerMeasuresNeedsNoLookBefore) {
  TopTable table;
  EngineStatus engine = engine_at_work(0);
  engine.cpu_share = 0.5;
  table.look({engine}, {}, after(0s));
  EXPECT_EQ(table.rows().at(0).cpu_percent, 50);
}

TEST(TopTable, AnotherProcessUnderTheIdBeginsAnew) {
  TopTable table;
  table.look({engine_at_work(0, 1000)}, {}, after(0s));
  EngineStatus restarted = engine_at_work(0, 1);
  restarted.pid = 4711;
  table.look({restarted}, {}, after(1s));
  EXPECT_FALSE(table.rows().at(0).cpu_percent);
}

TEST(TopTable, AnEngineThatWasAwayForALookBeginsAnew) {
  TopTable table;
  table.look({engine_at_work(0, 10)}, {}, after(0s));
  table.look({engine_in(0, "no answer", 1)}, {}, after(1s));
  table.look({engine_at_work(0, 12)}, {}, after(2s));
  EXPECT_FALSE(table.rows().at(0).cpu_percent);
}

TEST(TopTable, ACallOfAnEarlierRequestIsNotShownForTheNextOne) {
  TopTable table;
  EngineStatus engine = engine_at_work(0);
  engine.msg_id = "the next one";
  table.look({engine}, {in_barrier_at_line_3(0)}, after(0s));
  EXPECT_EQ(table.rows().at(0).call, "");
  EXPECT_EQ(table.rows().at(0).runs, "solve(A, b)");
}

TEST(TopTable, WhereThereIsNoRoomTheSilentAndTheLongestBusyEnginesAreShown) {
  TopTable table;
  EngineStatus longest = engine_at_work(4);
  longest.runs_for = 99;
  table.look({engine_in(0, "idle"), engine_at_work(1), engine_in(2, "no answer", 3),
              engine_in(3, "idle"), longest},
             {}, after(0s));
  const auto lines = table.lines(3);
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[2].substr(0, 1) + lines[3].substr(0, 1) + lines[4].substr(0, 1), "241");
  EXPECT_EQ(lines[5], "... and 2 more engines: -t selects engines");
  EXPECT_EQ(table.json().size(), 5U);
}

TEST(TopTable, WhatEnginesSayIsEscapedOnAPageAndHarmlessOnATerminal) {
  TopTable table;
  EngineStatus engine = engine_at_work(0);
  engine.runs = "print('\x1b[2J<script>')";
  table.look({engine}, {}, after(0s));
  const std::string html = table.data(10)["text/html"];
  EXPECT_EQ(html.find("<script>"), std::string::npos) << html;
  EXPECT_NE(html.find("&lt;script&gt;"), std::string::npos) << html;
  for (const std::string& line : table.lines(10))
    EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
}

TEST(TopTable, IsAListOfObjectsForScripts) {
  TopTable table;
  table.look({engine_at_work(0, 1), engine_in(1, "no answer", 12)}, {in_barrier_at_line_3(0)},
             after(0s));
  EXPECT_EQ(table.json()[0], (Json{{"engine", 0},
                                   {"host", "node1"},
                                   {"state", "busy"},
                                   {"seconds", 42.0},
                                   {"call", "MPI_Barrier"},
                                   {"call_seconds", 40.0},
                                   {"runs", "cell line 3: comm.Barrier()"},
                                   {"queue", 2},
                                   {"memory", 128.0 * (1 << 20)},
                                   {"cpu_percent", nullptr}}));
  EXPECT_EQ(table.json()[1]["seconds"], 12.0);
  EXPECT_TRUE(table.json()[1]["host"].is_null());
}

}  // namespace
}  // namespace px::magics
