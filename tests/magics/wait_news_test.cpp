#include "magics/wait_news.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using namespace std::chrono_literals;
using client::EnginePlace;

constexpr Instant begun{};

EnginePlace in_barrier(int id, double seconds) {
  EnginePlace place{.id = EngineId{id}, .state = EnginePlace::State::busy, .seconds = 90};
  place.mpi = client::MpiWait{.call = "MPI_Barrier", .seconds = seconds};
  return place;
}

EnginePlace computing(int id) {
  return {.id = EngineId{id}, .state = EnginePlace::State::busy, .runs = "solve()", .seconds = 90};
}

EnginePlace idle(int id) {
  return {.id = EngineId{id}, .state = EnginePlace::State::idle};
}

/// The requests of the cell that these engines run.
CellRequests requests(const std::vector<int>& engines) {
  CellRequests all;
  for (const int id : engines) all.emplace(EngineId{id}, MessageId{"me_7_" + std::to_string(id)});
  return all;
}

EnginePlace running(int id, const std::string& msg_id, double seconds) {
  EnginePlace place = computing(id);
  place.msg_id = msg_id;
  place.seconds = seconds;
  return place;
}

/// What is said after these answers, while these engines run the cell.
std::string said(const std::vector<EnginePlace>& places, const CellRequests& unfinished) {
  WaitNews news{begun};
  news.on_places(places, unfinished, 1s, begun + 10s);
  return news.line();
}

TEST(WaitNews, AsksOnceNothingHasComeForAWhile) {
  WaitNews news{begun};
  EXPECT_FALSE(news.is_due(begun + 9s));
  EXPECT_TRUE(news.is_due(begun + 10s));
  news.on_sign_of_life(begun + 9s);
  EXPECT_FALSE(news.is_due(begun + 18s));
  EXPECT_TRUE(news.is_due(begun + 19s));
}

TEST(WaitNews, SaysWhereAllWaitWhoHaveNotFinished) {
  EXPECT_EQ(said({in_barrier(0, 42), in_barrier(1, 42), idle(2)}, requests({0, 1})),
            "waiting: 0 and 1 in MPI_Barrier for 42 s; 2 idle");
}

TEST(WaitNews, SaysNothingWhileOneOfThemComputes) {
  EXPECT_EQ(said({in_barrier(0, 42), computing(1)}, requests({0, 1})), "");
  EXPECT_EQ(said({computing(0), computing(1)}, requests({0, 1})), "");
}

TEST(WaitNews, SaysNothingOfShortCallsOrWhereOneDoesNotAnswer) {
  EXPECT_EQ(said({in_barrier(0, 42), in_barrier(1, 3)}, requests({0, 1})), "");
  EXPECT_EQ(said({in_barrier(0, 42), EnginePlace{.id = EngineId{1}}}, requests({0, 1})), "");
  EXPECT_EQ(said({in_barrier(0, 42)}, {}), "");
}

TEST(WaitNews, WhatIsSaidGoesAtTheFirstSignOfLife) {
  WaitNews news{begun};
  news.on_places({in_barrier(0, 42)}, requests({0}), 1s, begun + 10s);
  EXPECT_FALSE(news.line().empty());
  EXPECT_TRUE(news.is_due(begun + 20s));  // it is kept up to date
  news.on_sign_of_life(begun + 21s);
  EXPECT_EQ(news.line(), "");
}

TEST(WaitNews, WhereNothingCanBeReplacedItIsSaidOnce) {
  WaitNews news{begun};
  EXPECT_EQ(news.take_first(), "");
  news.on_places({in_barrier(0, 42)}, requests({0}), 1s, begun + 10s);
  EXPECT_EQ(news.take_first(), "waiting: 0 in MPI_Barrier for 42 s");
  news.on_places({in_barrier(0, 52)}, requests({0}), 1s, begun + 20s);
  EXPECT_EQ(news.take_first(), "");
}

TEST(WaitNews, AsksMoreAndMoreRarelyWhereNobodyWaits) {
  WaitNews news{begun};
  Instant now = begun + 10s;
  for (const Duration pause : {20s, 40s, 60s, 60s}) {
    news.on_places({computing(0)}, requests({0}), 1s, now);
    EXPECT_FALSE(news.is_due(now + pause - 1s));
    now += pause;
    EXPECT_TRUE(news.is_due(now));
  }
}

TEST(WaitNews, AsksNoMoreWhereNobodyKnowsTheQuestion) {
  WaitNews news{begun};
  EnginePlace stock = computing(0);
  stock.state = EnginePlace::State::unknown;
  news.on_places({stock}, requests({0}), 1s, begun + 10s);
  EXPECT_FALSE(news.is_due(begun + 1h));
  news.on_places({stock, computing(1)}, requests({0}), 1s, begun + 10s);
  EXPECT_TRUE(news.is_due(begun + 1h));
}

// ---------------------------------------------------------------- native code

/// In C code that holds Python's lock.
EnginePlace holding(int id, double seconds = 42) {
  EnginePlace place = running(id, "me_7_" + std::to_string(id), seconds);
  place.holds_lock = true;
  return place;
}

client::EngineStacks spinning(int id, const std::string& function) {
  return {{.id = EngineId{id}},
          {.threads = {{.thread = 7,
                        .is_main = true,
                        .frames = {{.function = function, .file = "/x/libsolve.so"},
                                   {.function = "solve", .file = "/x/libsolve.so"}}}}}};
}

std::vector<EngineId> ids(const std::vector<int>& numbers) {
  std::vector<EngineId> all;
  for (const int number : numbers) all.push_back(EngineId{number});
  return all;
}

TEST(WaitNews, OfAnEngineInNativeCodeTheInnermostCallsAreSaid) {
  WaitNews news{begun};
  const CellRequests all = requests({0, 1, 2});
  const std::vector<EnginePlace> places{in_barrier(0, 41), in_barrier(1, 41), holding(2)};
  news.on_places(places, all, 1s, begun + 10s);
  EXPECT_EQ(news.line(), "");
  EXPECT_EQ(news.take_unclear(begun + 10s), ids({2}));
  news.on_stacks({spinning(2, "inner_loop")}, begun + 11s);
  EXPECT_TRUE(news.is_due(begun + 11s)) << "what was found is said at once";
  news.on_places(places, all, 1s, begun + 11s);
  EXPECT_EQ(news.line(),
            "waiting: 2 in C code that holds Python's lock for 42 s (solve()), seen in "
            "inner_loop() of libsolve.so, called by solve() of libsolve.so; 0 and 1 in "
            "MPI_Barrier for 41 s");
}

TEST(WaitNews, StacksAreAskedForOnce) {
  WaitNews news{begun};
  news.on_places({holding(0), holding(1)}, requests({0, 1}), 1s, begun + 10s);
  EXPECT_EQ(news.take_unclear(begun + 10s), ids({0, 1}));
  EXPECT_EQ(news.take_unclear(begun + 10s), ids({}));
  news.on_stacks({spinning(0, "f"), spinning(1, "f")}, begun + 10s);
  news.on_places({holding(0), holding(1)}, requests({0, 1}), 1s, begun + 10s);
  EXPECT_EQ(news.take_unclear(begun + 10s), ids({}));
  news.on_sign_of_life(begun + 20s);
  news.on_places({holding(0), holding(1)}, requests({0, 1}), 1s, begun + 30s);
  EXPECT_EQ(news.take_unclear(begun + 30s), ids({})) << "too soon";
  EXPECT_NE(news.line(), "");
  news.on_sign_of_life(begun + 70s);
  news.on_places({holding(0), holding(1)}, requests({0, 1}), 1s, begun + 80s);
  EXPECT_EQ(news.line(), "") << "what was seen then is of no interest now";
  EXPECT_EQ(news.take_unclear(begun + 80s), ids({0, 1}));
}

TEST(WaitNews, StacksAreAskedForOnlyWhereTheLineIsNotKnown) {
  WaitNews news{begun};
  EnginePlace in_python = running(0, "me_7_0", 42), in_torch = running(1, "me_7_1", 42),
              other_cell = running(2, "else_1_1", 42), in_cpp = running(5, "me_7_5", 42),
              waits_in_mpi = holding(6);
  in_python.line = 3;
  in_torch.torch = client::TorchWait{.call = "all_reduce", .is_inside = true};
  waits_in_mpi.mpi = client::MpiWait{.call = "MPI_Recv", .seconds = 1};
  news.on_places({in_python, in_torch, other_cell, holding(3, 2), holding(4), in_cpp, waits_in_mpi},
                 requests({0, 1, 2, 3, 5, 6}), 1s, begun + 10s);
  EXPECT_EQ(news.take_unclear(begun + 10s), ids({5}));
}

TEST(WaitNews, NothingIsSaidOfAStackThatIsNotKnownOrIsOver) {
  WaitNews news{begun};
  const CellRequests one = requests({0});
  news.on_places({holding(0)}, one, 1s, begun + 10s);
  news.take_unclear(begun + 10s);
  news.on_stacks({{{.id = EngineId{0}}, {.why = "a disk"}}}, begun + 11s);
  news.on_places({holding(0)}, one, 1s, begun + 20s);
  EXPECT_EQ(news.line(), "");
  news.on_stacks({spinning(0, "f")}, begun + 21s);
  EnginePlace back_in_python = running(0, "me_7_0", 50);
  back_in_python.line = 4;
  news.on_places({back_in_python}, one, 1s, begun + 21s);
  EXPECT_EQ(news.line(), "");
}

TEST(WaitNews, SaysWhatKeepsEnginesFromBeginning) {
  const CellRequests both = requests({0, 1});
  EXPECT_EQ(said({running(0, "else_1_1", 12), running(1, "else_1_2", 11)}, both),
            "waiting: engines 0 and 1 run code of another client for 12 s (solve())");
  EXPECT_EQ(said({running(0, "me_7_9", 12), running(1, "me_7_1", 5)}, both),
            "waiting: engine 0 runs an earlier request of yours for 12 s (solve())");
  EXPECT_EQ(said({running(0, "me_7_0", 12), running(1, "me_7_1", 5)}, both), "");
  EXPECT_EQ(said({running(2, "else_1_1", 12)}, both), "") << "no engine of the cell";
}

TEST(WaitNews, AsksAgainWhileEnginesRunSomethingElse) {
  WaitNews news{begun};
  news.on_places({running(0, "else_1_1", 12)}, requests({0}), 1s, begun + 10s);
  EXPECT_TRUE(news.is_due(begun + 20s));
  news.on_places({running(0, "me_7_0", 1)}, requests({0}), 1s, begun + 20s);
  EXPECT_EQ(news.line(), "");
}

TEST(WaitNews, OfManyGroupsTheFirstAreNamed) {
  std::vector<EnginePlace> places;
  for (int id = 0; id < 6; ++id) {
    places.push_back(in_barrier(id, 42));
    places.back().mpi->peer = id;
  }
  const std::string line = said(places, requests({0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(line.ends_with("3 in MPI_Barrier to rank 3 for 42 s; ... (%pxwhere shows all)"))
      << line;
}

}  // namespace
}  // namespace px::magics
