#include "controller/scheduler/stocktaking.hpp"

#include <gtest/gtest.h>

#include "controller/scheduler/sent_replies.hpp"
#include "tests/controller/task_queue_fixture.hpp"

namespace px::controller {
namespace {

const EngineUuid ann{"ann"}, bob{"bob"};

TEST(Stocktaking, OfTheFirstControllerIsDoneAtOnce) {
  const Stocktaking stock;
  EXPECT_TRUE(stock.is_done(at(0s)));
  EXPECT_EQ(stock.deadline(), std::nullopt);
}

TEST(Stocktaking, IsDoneWhenAllWhoAreAwaitedHaveReportedAndJoined) {
  Stocktaking stock{{ann, bob}, at(5s)};
  EXPECT_FALSE(stock.is_done(at(0s)));
  stock.joined(ann);
  stock.reported(ann, {{"t1"}});
  EXPECT_FALSE(stock.is_done(at(0s)));
  stock.reported(bob, {});
  EXPECT_FALSE(stock.is_done(at(0s)));
  stock.joined(bob);
  EXPECT_TRUE(stock.is_done(at(0s)));
}

TEST(Stocktaking, WaitsForNobodyLongerThanItsPatienceNorForThoseWhoLeft) {
  Stocktaking late{{ann}, at(5s)};
  EXPECT_EQ(late.deadline(), at(5s));
  EXPECT_TRUE(late.is_done(at(5s)));
  Stocktaking stock{{ann}, at(5s)};
  stock.left(ann);
  EXPECT_TRUE(stock.is_done(at(0s)));
}

TEST(Stocktaking, KnowsTheLatestAttemptAtATaskOfSeveralRanks) {
  Stocktaking stock{{ann, bob, EngineUuid{"cy"}}, at(5s)};
  stock.reported(ann, {{"t"}, {}, {{"t", 0, {{ann, bob}, {1, {0, 1}}}}}});
  stock.reported(bob, {{"t"}, {"t"}, {{"t", 1, {{bob, EngineUuid{"cy"}}, {2, {1, 2}}}}}});
  stock.reported(EngineUuid{"cy"}, {{"t"}, {"t"}, {}});
  const auto gang = stock.gang_of("t");
  ASSERT_TRUE(gang);
  EXPECT_EQ(gang->repetition, 1);
  EXPECT_EQ(gang->holders, std::vector{bob});
  EXPECT_EQ(gang->seats.communicator.number, 2);
  EXPECT_EQ(stock.gang_of("other"), nullptr);
  ASSERT_EQ(stock.unclaimed_ranks().size(), 1u);
  EXPECT_EQ(stock.unclaimed_ranks()[0].engine, bob);
  stock.take_holder("t");
  EXPECT_EQ(stock.gang_of("t"), nullptr);
  EXPECT_TRUE(stock.unclaimed_ranks().empty());
}

TEST(Stocktaking, ReadsTheReportOfAnEngine) {
  const HeldTasks held = read_held_tasks(Json::parse(R"({
      "holds": ["t", "g", 3], "unanswered": ["g"], "holds_ranks": [
        {"msg_id": "g", "repetition": 2, "gang": {"engines": ["a", "b"], "ranks": [1, 3], "number": 9}},
        {"msg_id": "h", "gang": {"engines": ["a", "b"], "ranks": [1]}},
        {"gang": {"engines": ["a", "b"], "ranks": [1, 3]}}, {"msg_id": "i", "gang": 3}, 7]})"));
  EXPECT_EQ(held.msg_ids, (std::vector<std::string>{"t", "g"}));
  EXPECT_EQ(held.unanswered, std::vector<std::string>{"g"});
  ASSERT_EQ(held.gangs.size(), 1u);
  EXPECT_EQ(held.gangs[0].msg_id, "g");
  EXPECT_EQ(held.gangs[0].repetition, 2);
  EXPECT_EQ(held.gangs[0].seats.engines, (std::vector{EngineUuid{"a"}, EngineUuid{"b"}}));
  EXPECT_EQ(held.gangs[0].seats.communicator, (GangCommunicator{9, {1, 3}}));
  EXPECT_TRUE(read_held_tasks({{"holds_ranks", 3}}).gangs.empty());
}

TEST(Stocktaking, KnowsWhoHoldsATaskOnce) {
  Stocktaking stock{{ann, bob}, at(5s)};
  stock.reported(ann, {{"t1", "t2"}});
  stock.reported(bob, {{"t3"}});
  EXPECT_EQ(stock.take_holder("t1"), ann);
  EXPECT_EQ(stock.take_holder("t1"), EngineUuid{});
  EXPECT_EQ(stock.take_holder("t3"), bob);
  EXPECT_EQ(stock.take_holder("other"), EngineUuid{});
}

TEST(Stocktaking, TheLatestAttemptCountsWhoeverHasAnEarlierOne) {
  for (const EngineUuid& latest : {ann, bob}) {
    Stocktaking stock{{ann, bob}, at(5s)};
    stock.reported(ann, {{"t1"}});
    stock.reported(bob, {{"t1"}});
    stock.reported(bob, {{"t1"}});  // asked once more
    EXPECT_EQ(stock.take_holder("t1", latest), latest);
    EXPECT_EQ(stock.take_holder("t1", latest), EngineUuid{});
  }
}

TEST(Stocktaking, WhoHasNotAnsweredATaskHasItsLatestAttempt) {
  for (const EngineUuid& latest : {ann, bob}) {
    Stocktaking stock{{ann, bob}, at(5s)};
    stock.reported(latest, {{"t1"}});
    const EngineUuid other = latest == ann ? bob : ann;
    stock.reported(other, {{"t0", "t1"}, {"t1"}});
    EXPECT_EQ(stock.take_holder("t1", latest), other);
  }
}

TEST(Stocktaking, WhatAnEngineThatLeftHeldIsHeldByNobody) {
  Stocktaking stock{{ann}, at(5s)};
  stock.reported(ann, {{"t1"}});
  stock.left(ann);
  EXPECT_EQ(stock.take_holder("t1"), EngineUuid{});
}

// ---------------------------------------------------------------- in the queue

TEST(HeldTasks, GoToTheEngineThatHoldsThemWhateverItsLoad) {
  Cluster cluster;
  cluster.join("ann");
  EXPECT_EQ(cluster.submit("t1"), Texts{"t1>ann"});
  cluster.join("bob");
  EXPECT_EQ(cluster.submit_held("t2", "ann"), Texts{"t2>ann"});
  EXPECT_EQ(cluster.reply("ann", "t2"), Texts{"t2=ann"});
}

TEST(HeldTasks, KeepTheirRetries) {
  Cluster cluster;
  cluster.join("ann");
  cluster.join("bob");
  EXPECT_EQ(cluster.submit_held("t1", "ann", {.retries = 1}), Texts{"t1>ann"});
  EXPECT_EQ(cluster.fails("ann", "t1"), Texts{"t1>bob"});
}

TEST(HeldTasks, WaitForNoTaskThatTheyDependedOn) {
  Cluster cluster;
  cluster.join("ann");
  TaskRules rules;
  rules.after.msg_ids = {"forgotten"};
  EXPECT_EQ(cluster.submit_held("t1", "ann", rules), Texts{"t1>ann"});
}

TEST(HeldTasks, OfAnEngineThatIsNotThereGoAnywhere) {
  Cluster cluster;
  cluster.join("bob");
  EXPECT_EQ(cluster.submit_held("t1", "ann"), Texts{"t1>bob"});
}

// What a client may ask for again.

// Signatures are hexadecimal.
constexpr const char *once = "aaaaaaaaaaaaaaaa", *twice = "bbbbbbbbbbbbbbbb";

SharedFrames reply(std::size_t bytes) {
  return std::make_shared<TextFrames>(std::vector<std::string>{std::string(bytes, 'x')});
}

TEST(SentReplies, AReplyIsFoundByTheSignatureOfItsRequest) {
  SentReplies replies;
  EXPECT_FALSE(replies.was_answered(once));
  replies.sent(once, reply(5));
  EXPECT_TRUE(replies.was_answered(once));
  EXPECT_EQ(replies.find(once)->at(0), "xxxxx");
  EXPECT_FALSE(replies.was_answered(twice));
  EXPECT_EQ(replies.find(twice), nullptr);
}

TEST(SentReplies, OfALongReplyOnlyThatItWasSentIsKept) {
  SentReplies replies{{.count = 10, .bytes = 100, .of_one = 50}};
  replies.sent(once, reply(51));
  replies.sent(twice, nullptr);
  EXPECT_TRUE(replies.was_answered(once));
  EXPECT_TRUE(replies.was_answered(twice));
  EXPECT_EQ(replies.find(once), nullptr);
  EXPECT_EQ(replies.find(twice), nullptr);
}

TEST(SentReplies, TheOldestGoFirst) {
  SentReplies replies{{.count = 10, .bytes = 100, .of_one = 100}};
  replies.sent(once, reply(60));
  replies.sent(twice, reply(60));
  EXPECT_EQ(replies.find(once), nullptr);
  EXPECT_NE(replies.find(twice), nullptr);
  EXPECT_TRUE(replies.was_answered(once));
}

TEST(SentReplies, WithoutASignatureNothingIsKept) {
  SentReplies replies;
  replies.sent("", reply(5));
  EXPECT_FALSE(replies.was_answered(""));
  EXPECT_EQ(replies.find(""), nullptr);
}

}  // namespace
}  // namespace px::controller
