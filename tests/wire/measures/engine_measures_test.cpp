#include "wire/measures/engine_measures.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "wire/checked_json.hpp"

namespace px {
namespace {

using namespace std::chrono_literals;

EngineMeasures all_measures() {
  EngineMeasures all;
  all.process = {81'000'000, 55.5, 9, 40};
  all.host = {16'000'000'000, 9'000'000'000, 8, 1.5};
  all.gpus = {{2, "A GPU", 0.9, 80'000'000'000, 1'000'000}};
  all.msg_id = "abc_1";
  all.runs = "solve(A, b)";
  all.runs_for = 3.25;
  all.queued = 2;
  all.mpi = WaitingCall{
      .call = "MPI_Recv", .seconds = 2.5, .group = "77", .size = 4, .peer = 1, .tag = 9};
  all.torch =
      WaitingCall{.call = "all_reduce", .seconds = 1, .group = "0", .bytes = 4096, .count = 7};
  all.line = "comm.recv()";
  all.holds_lock = true;
  all.last_error = "ValueError";
  all.requests = 200;
  all.errors = 1;
  all.in = {100, 200, 300};
  all.out = {1, 2, 3};
  all.durations.add(5ms);
  return all;
}

TEST(EngineMeasures, AreReadAsTheyWereWritten) {
  for (const Packer packer : {Packer::json, Packer::msgpack}) {
    const auto read = unpack(packer, pack(packer, write_engine_measures(all_measures())));
    EXPECT_EQ(read_engine_measures(*read), all_measures());
  }
}

TEST(EngineMeasures, OfAnIdleEngineAreShort) {
  EXPECT_EQ(write_engine_measures({}), Json::object());
  EXPECT_EQ(read_engine_measures(Json::object()), EngineMeasures{});
}

TEST(EngineMeasures, ACallMayWaitForAnyRank) {
  EngineMeasures measures;
  measures.mpi = WaitingCall{.call = "MPI_Recv", .is_peer_any = true};
  EXPECT_EQ(write_engine_measures(measures)["mpi"]["peer"], "any");
  EXPECT_EQ(read_engine_measures(write_engine_measures(measures)), measures);
}

TEST(EngineMeasures, WhatIsMalformedCountsAsNotSaid) {
  const Json wrong{{"process", {{"memory", -1}, {"cpu", "much"}, {"threads", 1.5}}},
                   {"host_use", 7},
                   {"gpu_use", {{"number", 0}}},
                   {"msg_id", 1},
                   {"runs_for", std::numeric_limits<double>::infinity()},
                   {"queued", -2},
                   {"mpi", {{"seconds", 1}}},
                   {"torch", "all_reduce"},
                   {"requests", "all"},
                   {"in", Json::array({1})},
                   {"durations", 3}};
  EXPECT_EQ(read_engine_measures(wrong), EngineMeasures{});
  for (const Json& no_object : {Json(), Json(1), Json("text"), Json::array({1})})
    EXPECT_EQ(read_engine_measures(no_object), EngineMeasures{});
}

TEST(EngineMeasures, AreCutToTheirBounds) {
  Json large = write_engine_measures(all_measures());
  large["runs"] = std::string(300, 'x') + "y";
  large["line"] = std::string(255, 'x') + "\u00e4";
  for (int i = 0; i < 100; ++i) large["gpu_use"].push_back({{"number", i}});
  const EngineMeasures read = read_engine_measures(large);
  EXPECT_EQ(read.runs, std::string(EngineMeasures::max_text, 'x'));
  EXPECT_EQ(read.line, std::string(255, 'x'));
  EXPECT_EQ(read.gpus.size(), EngineMeasures::max_gpus);
}

/// Each value of a message in turn is replaced by each of these.
TEST(EngineMeasures, NoValueOfAPeerIsTrusted) {
  const Json whole = write_engine_measures(all_measures());
  const Json flat = whole.flatten();
  for (const auto& [path, value] : flat.items())
    for (const Json& other :
         {Json(), Json(-1), Json(1e308), Json(""), Json::array(), Json::object(), Json(true),
          Json(std::numeric_limits<std::uint64_t>::max())}) {
      Json changed = whole;
      changed[Json::json_pointer(path)] = other;
      const EngineMeasures read = read_engine_measures(changed);
      EXPECT_EQ(read_engine_measures(write_engine_measures(read)), read) << path << other;
    }
}

}  // namespace
}  // namespace px
