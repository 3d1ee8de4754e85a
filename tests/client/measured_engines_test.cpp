#include "client/measured_engines.hpp"

#include <gtest/gtest.h>

#include "client/place_text.hpp"

namespace px::client {
namespace {

/// Busy for 10 s, measured 2 s ago, 7 s after its request began.
Json busy_row() {
  return {{"id", 3},
          {"state", "busy"},
          {"state_seconds", 10.0},
          {"measured_ago", 2.0},
          {"cpu_share", 0.5},
          {"tasks", 1},
          {"direct", 2},
          {"process", {{"memory", 4096}, {"cpu", 55.0}}},
          {"msg_id", "x_1"},
          {"runs", "import mpi4py"},
          {"runs_for", 7.0},
          {"line", "comm.recv()"},
          {"mpi", {{"call", "MPI_Recv"}, {"seconds", 2.5}, {"group", "77"}, {"peer", 1}}}};
}

TEST(MeasuredEngines, AreReadAsIfTheyHadAnswered) {
  const Json usage = measured_usage(busy_row());
  EXPECT_EQ(usage["kernel_memory"], 4096);
  EXPECT_EQ(usage["kernel_cpu_seconds"], 55.0);
  EXPECT_EQ(usage["cpu_share"], 0.5);
  EXPECT_EQ(usage["queued"], 2) << "but for the one that runs";
  EXPECT_EQ(usage["running"],
            (Json{{"msg_id", "x_1"}, {"what", "import mpi4py"}, {"seconds", 9.0}}));
  const auto places = measured_places({{"engines", Json::array({busy_row()})}});
  ASSERT_EQ(places.size(), 1U);
  EXPECT_EQ(places[0].id, EngineId{3});
  EXPECT_EQ(places[0].state, EnginePlace::State::busy);
  EXPECT_EQ(places[0].msg_id, "x_1");
  EXPECT_EQ(call_text(places[0]), "MPI_Recv from rank 1");
  EXPECT_DOUBLE_EQ(places[0].mpi->seconds, 4.5);
  EXPECT_EQ(line_text(places[0]), "comm.recv()");
}

TEST(MeasuredEngines, ACallOfTorchIsOneThatIsUnderWay) {
  Json row = busy_row();
  row.erase("mpi");
  row["torch"] = {{"call", "all_reduce"}, {"seconds", 1.0}, {"bytes", 4 << 20}, {"count", 7}};
  EXPECT_EQ(call_text(measured_places({{"engines", Json::array({row})}})[0]),
            "all_reduce of 4.2 MB (7th call of its group)");
}

TEST(MeasuredEngines, OfWhatBeganSinceTheyWereMeasuredOnlyTheAgeIsKnown) {
  Json row = busy_row();
  row["measured_ago"] = 11.0;
  const Json usage = measured_usage(row);
  EXPECT_EQ(usage["running"], (Json{{"seconds", 10.0}}));
  EXPECT_EQ(usage["place"], Json::object());
  row.erase("measured_ago");
  EXPECT_EQ(measured_usage(row)["running"], (Json{{"seconds", 10.0}}));
}

TEST(MeasuredEngines, AnIdleOneRunsNothingWhateverItSaidBefore) {
  Json row = busy_row();
  row["state"] = "idle";
  row.erase("tasks");
  row.erase("direct");
  const Json usage = measured_usage(row);
  EXPECT_FALSE(usage.contains("running"));
  EXPECT_EQ(usage["queued"], 0);
  EXPECT_EQ(measured_places({{"engines", Json::array({row})}})[0].state, EnginePlace::State::idle);
}

TEST(MeasuredEngines, WhatIsSilentOrMalformedHasNotAnswered) {
  Json silent = busy_row();
  silent["state"] = "silent";
  EXPECT_TRUE(measured_usage(silent).empty());
  EXPECT_TRUE(measured_usage(7).empty());
  EXPECT_TRUE(measured_usage(nullptr).empty());
  EXPECT_TRUE(measured_places({{"engines", {silent, 7, {{"id", "x"}}}}}).empty());
  EXPECT_TRUE(measured_engines(nullptr).empty());
  EXPECT_TRUE(measured_engines({{"engines", {{"id", 1}}}}).empty()) << "no list";
}

}  // namespace
}  // namespace px::client
