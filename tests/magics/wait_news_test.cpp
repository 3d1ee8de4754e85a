#include "magics/wait_news.hpp"

#include <gtest/gtest.h>

namespace px::magics {
namespace {

using namespace std::chrono_literals;
using client::EnginePlace;

constexpr Instant begun{};

EnginePlace in_barrier(int id, double seconds) {
  EnginePlace place{
      .id = EngineId{id}, .state = EnginePlace::State::busy, .seconds = 90, .tells_calls = true};
  place.mpi = client::MpiWait{.call = "MPI_Barrier", .seconds = seconds};
  return place;
}

EnginePlace computing(int id, bool tells_calls = true) {
  return {.id = EngineId{id},
          .state = EnginePlace::State::busy,
          .runs = "solve()",
          .seconds = 90,
          .tells_calls = tells_calls};
}

EnginePlace idle(int id) {
  return {.id = EngineId{id}, .state = EnginePlace::State::idle, .tells_calls = true};
}

/// The requests of the cell that these engines run.
CellRequests requests(const std::vector<int>& engines) {
  CellRequests all;
  for (const int id : engines) all.emplace(EngineId{id}, MessageId{"me_7_" + std::to_string(id)});
  return all;
}

EnginePlace running(int id, const std::string& msg_id, double seconds) {
  EnginePlace place = computing(id, false);
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

TEST(WaitNews, AsksNoMoreWhereNobodyKnowsOfMpiCalls) {
  WaitNews news{begun};
  news.on_places({computing(0, false), computing(1, false)}, requests({0}), 1s, begun + 10s);
  EXPECT_FALSE(news.is_due(begun + 1h));
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
