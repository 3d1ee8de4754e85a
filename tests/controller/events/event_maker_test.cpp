#include "controller/events/event_maker.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "controller/events/event_ring.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"};

EventTime at_second(int second) {
  return {Instant{} + std::chrono::seconds(second),
          *parse_date("2026-11-27T10:00:00Z") + std::chrono::seconds(second)};
}

class EventMakerTest : public testing::Test {
 protected:
  /// What was told since the last call: "kind engine host: text".
  std::vector<std::string> told() {
    std::vector<std::string> lines;
    for (const Json& event : std::exchange(events_, {})) {
      std::string line = event["kind"];
      if (!event["engine"].is_null()) line += " " + event["engine"].dump();
      if (!event["host"].is_null()) line += " " + event["host"].get<std::string>();
      lines.push_back(line + ": " + event["text"].get<std::string>());
    }
    return lines;
  }
  void join(int id, const EngineUuid& uuid) {
    maker.engine_joined(EngineId{id}, uuid, {}, at_second(0));
    told();
  }

  std::vector<Json> events_;
  EventMaker maker{[this](const Json& event) { events_.push_back(event); },
                   [](const EngineUuid& uuid) { return "host of " + uuid.text; }};
};

using Lines = std::vector<std::string>;

TEST_F(EventMakerTest, AnEventIsAJsonObjectWithItsDate) {
  EngineFacts facts;
  facts.rank = Rank{1};
  facts.pid = 812;
  maker.engine_joined(EngineId{3}, ann, facts, at_second(5));
  ASSERT_EQ(events_.size(), 1U);
  EXPECT_EQ(events_[0], (Json{{"time", "2026-11-27T10:00:05Z"},
                              {"kind", "joined"},
                              {"engine", 3},
                              {"host", "host of ann"},
                              {"text", "it joined as MPI rank 1, process 812"}}));
}

TEST_F(EventMakerTest, TheLifeOfAnEngineIsToldWithItsReasons) {
  join(3, ann);
  maker.engine_silent(ann, at_second(1));
  maker.engine_returned(ann, at_second(2));
  maker.engine_drained(ann, true, at_second(2));
  maker.engine_drained(ann, false, at_second(2));
  maker.engine_left(ann, "its process was killed by SIGKILL; the last lines of its log:\nx", true,
                    at_second(3));
  EXPECT_EQ(told(),
            (Lines{"silent 3 host of ann: it does not answer heartbeats: it gets no tasks until it "
                   "answers again",
                   "back 3 host of ann: it answers heartbeats again",
                   "drained 3 host of ann: it gets no further tasks, as requested on the dashboard",
                   "resumed 3 host of ann: it gets tasks again, as requested on the dashboard",
                   "died 3 host of ann: its process was killed by SIGKILL; the last lines of its "
                   "log:"}));
}

TEST_F(EventMakerTest, AnEngineThatWasAskedToEndHasNotDied) {
  join(0, ann);
  maker.engine_left(ann, "it was shut down", false, at_second(1));
  EXPECT_EQ(told(), Lines{"left 0 host of ann: it was shut down"});
}

TEST_F(EventMakerTest, AnEngineThatComesBackIsToldAsSuch) {
  join(0, ann);
  maker.engine_left(ann, "it missed too many heartbeats", true, at_second(1));
  told();
  maker.engine_joined(EngineId{0}, ann, {}, at_second(2));
  EXPECT_EQ(told(), Lines{"joined 0 host of ann: it is registered again"});
}

TEST_F(EventMakerTest, RestartsAndStopsAreTold) {
  maker.started(true, at_second(0));
  maker.ends_announced("1700", "pxcluster restarts them", at_second(1));
  maker.ends_announced("1700/2", "pxcluster ended it for a restart", at_second(2));
  maker.world_broken("MPI world broken: rank 2 died", at_second(3));
  maker.shutdown_requested(at_second(4));
  maker.stopped(at_second(5));
  EXPECT_EQ(told(),
            (Lines{"started: the controller has started and continues the work of an earlier one",
                   "ending: all engines of set 1700 are about to end: pxcluster restarts them",
                   "ending: engine 1700/2 is about to end: pxcluster ended it for a restart",
                   "broken: MPI world broken: rank 2 died",
                   "stopping: a client has asked for the end of the cluster",
                   "stopped: the controller has stopped"}));
}

TEST_F(EventMakerTest, ManyRetriesAreOneEventAndACountTenSecondsLater) {
  join(1, bob);
  for (int i = 0; i < 1000; ++i)
    maker.task_retried(MessageId{"t" + std::to_string(i)}, bob, 1 + i % 2, at_second(0));
  EXPECT_EQ(told(), Lines{"retried 1 host of bob: task t0 runs again here: 1 attempt has failed"});
  EXPECT_EQ(maker.next_deadline(), at_second(10).now);
  maker.on_time(at_second(9));
  EXPECT_EQ(told(), Lines{});
  maker.on_time(at_second(10));
  EXPECT_EQ(told(), Lines{"retried: 999 more within 10 s, the last one: task t999 runs again here: "
                          "2 attempts have failed"});
  EXPECT_EQ(maker.next_deadline(), at_second(20).now);  // more may come
  maker.on_time(at_second(20));
  EXPECT_EQ(told(), Lines{});
  EXPECT_FALSE(maker.next_deadline());
}

TEST_F(EventMakerTest, KindsAreCountedEachForItself) {
  join(1, bob);
  maker.task_retried(MessageId{"t"}, bob, 1, at_second(0));
  maker.refused("the queue is full", at_second(1));
  maker.refused("the queue is full", at_second(2));
  EXPECT_EQ(told().back(), "overloaded: a request was refused: the queue is full");
  maker.on_time(at_second(11));
  EXPECT_EQ(told(), Lines{"overloaded: 1 more within 10 s, the last one: a request was refused: "
                          "the queue is full"});
}

TEST_F(EventMakerTest, WhatWasCountedIsToldBeforeTheEnd) {
  maker.refused("full", at_second(0));
  maker.refused("full", at_second(1));
  told();
  maker.stopped(at_second(2));
  EXPECT_EQ(told(), (Lines{"overloaded: 1 more within 10 s, the last one: a request was refused: "
                           "full",
                           "stopped: the controller has stopped"}));
}

TEST_F(EventMakerTest, TroubleOfAJournalIsToldWhenItBeginsAndWhenItIsOver) {
  for (int i = 0; i < 3; ++i) maker.journal("tasks", "the disk is full", at_second(i));
  maker.journal("direct calls", std::nullopt, at_second(3));
  for (int i = 4; i < 6; ++i) maker.journal("tasks", std::nullopt, at_second(i));
  EXPECT_EQ(told(), (Lines{"journal: the journal of tasks is not written: the disk is full",
                           "journal: the journal of tasks is written again"}));
}

TEST_F(EventMakerTest, NothingThatOthersSayBreaksALine) {
  maker.refused("one\ntwo\x1b[2J" + std::string(10'000, 'x'), at_second(0));
  const std::string text = told().front();
  EXPECT_EQ(text.find_first_of("\n\x1b"), std::string::npos);
  EXPECT_LT(text.size(), 4100U);
}

TEST(EventRing, KeepsTheLatestAndGivesThoseSinceADate) {
  EventRing ring;
  for (std::size_t i = 0; i < EventRing::most_events + 5; ++i)
    ring.add({{"time", format_date(at_second(static_cast<int>(i)).wall)}, {"text", i}});
  EXPECT_EQ(ring.list(std::nullopt).size(), EventRing::most_events);
  EXPECT_EQ(ring.list(std::nullopt)[0]["text"], 5);
  const Json last = ring.list(at_second(1003).wall);
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0]["text"], 1003);
}

}  // namespace
}  // namespace px::controller
