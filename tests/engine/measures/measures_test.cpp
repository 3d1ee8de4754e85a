#include "engine/measures/measures.hpp"

#include <gtest/gtest.h>

#include "tests/wire/requests.hpp"

namespace px::engine {
namespace {

using namespace std::chrono_literals;

TEST(Measures, SayWhatRunsAndWhatRan) {
  testing::Sender client;
  jupyter::WorkReport work{.queued = 2, .last_error = "ValueError", .requests = 9, .errors = 1};
  work.durations.add(1s);
  const EngineMeasures idle = measures_of(work, Instant{});
  EXPECT_EQ(idle.queued, 2u);
  EXPECT_EQ(idle.last_error, "ValueError");
  EXPECT_EQ(idle.requests, 9u);
  EXPECT_EQ(idle.errors, 1u);
  EXPECT_EQ(idle.durations.count(), 1u);
  EXPECT_EQ(idle.msg_id, "");
  EXPECT_EQ(idle.runs_for, std::nullopt);
  const RequestPtr cell = client.request("execute_request", {{"code", "solve(A, b)\nmore()"}});
  work.running = {cell, Instant{} + 5s};
  const EngineMeasures busy = measures_of(work, Instant{} + 8s);
  EXPECT_EQ(busy.runs, "solve(A, b)");
  EXPECT_EQ(busy.runs_for, 3.0);
  EXPECT_EQ(busy.msg_id, cell->header.msg_id.text);
}

TEST(Measures, TheCallsOfAPlaceAreTaken) {
  EngineMeasures measures;
  add_place(measures, {{"source", "comm.recv()"},
                       {"mpi",
                        {{"call", "MPI_Recv"},
                         {"seconds", 2.5},
                         {"communicator", 77},
                         {"size", 4},
                         {"peer", "any"},
                         {"tag", 9}}},
                       {"torch",
                        {{"call", "all_reduce"},
                         {"seconds", 1.5},
                         {"bytes", 4096},
                         {"count", 7},
                         {"group", "0"},
                         {"size", 4},
                         {"is_inside", true}}}});
  EXPECT_EQ(measures.line, "comm.recv()");
  EXPECT_EQ(measures.mpi, (WaitingCall{.call = "MPI_Recv",
                                       .seconds = 2.5,
                                       .group = "77",
                                       .size = 4,
                                       .is_peer_any = true,
                                       .tag = 9}));
  EXPECT_EQ(measures.torch, (WaitingCall{.call = "all_reduce",
                                         .seconds = 1.5,
                                         .group = "0",
                                         .size = 4,
                                         .bytes = 4096,
                                         .count = 7}));
}

TEST(Measures, ACallOfTorchThatHasEndedIsNone) {
  EngineMeasures measures;
  add_place(measures, {{"torch", {{"call", "all_reduce"}, {"is_inside", false}}}});
  EXPECT_EQ(measures.torch, std::nullopt);
}

TEST(Measures, APlaceMayLackEverything) {
  for (const Json& place : {Json(), Json::object(), Json{{"mpi", nullptr}, {"torch", 3}}}) {
    EngineMeasures measures;
    add_place(measures, place);
    EXPECT_EQ(measures, EngineMeasures{});
  }
}

TEST(Measures, WhereCodeHoldsTheLockTheLineIsNotKnown) {
  EngineMeasures measures;
  add_place(measures, {{"holds_lock", true}});
  EXPECT_TRUE(measures.holds_lock);
}

}  // namespace
}  // namespace px::engine
