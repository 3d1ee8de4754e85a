#include "engine/kept_replies.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using Ids = std::vector<std::string>;

std::vector<std::string> reply_of(std::size_t bytes) {
  return {"client", std::string(bytes - 6, 'x')};
}

TEST(KeptReplies, ARequestIsHeldFromItsArrivalOn) {
  KeptReplies kept;
  kept.arrived("sig", MessageId{"t1"}, 1);
  ASSERT_NE(kept.find("sig"), nullptr);
  EXPECT_FALSE(kept.find("sig")->is_answered);
  EXPECT_EQ(kept.held_by(1), Ids{"t1"});
  EXPECT_EQ(kept.unanswered_by(1), Ids{"t1"});
  EXPECT_EQ(kept.held_by(0), Ids{});
  EXPECT_EQ(kept.find("other"), nullptr);
}

TEST(KeptReplies, TheReplyOfARequestIsFoundByItsSignature) {
  KeptReplies kept;
  kept.arrived("sig", MessageId{"t1"}, 1);
  kept.answered("sig", {"client", "answer"});
  EXPECT_TRUE(kept.find("sig")->is_answered);
  EXPECT_EQ(kept.unanswered_by(1), Ids{});
  EXPECT_EQ(kept.find("sig")->reply, (std::vector<std::string>{"client", "answer"}));
  EXPECT_EQ(kept.held_by(1), Ids{"t1"});
}

TEST(KeptReplies, OfRequestsWithOneIdTheLatestIsFoundFirstThatWhichRuns) {
  KeptReplies kept;
  kept.arrived("first", MessageId{"t1"}, 1);
  kept.arrived("second", MessageId{"t1"}, 1);
  kept.answered("first", {"client", "early"});
  EXPECT_FALSE(kept.find_latest(MessageId{"t1"})->is_answered);
  kept.answered("second", {"client", "late"});
  EXPECT_EQ(kept.find_latest(MessageId{"t1"})->reply.at(1), "late");
  EXPECT_EQ(kept.find_latest(MessageId{"t2"}), nullptr);
}

TEST(KeptReplies, WhatIsGivenBackIsNotHeldAndNoReply) {
  KeptReplies kept;
  kept.arrived("first", MessageId{"t1"}, 1);
  EXPECT_FALSE(kept.was_given_back(MessageId{"t1"}));
  kept.given_back("first");
  EXPECT_TRUE(kept.find("first")->is_given_back);
  EXPECT_TRUE(kept.was_given_back(MessageId{"t1"}));
  EXPECT_EQ(kept.find_latest(MessageId{"t1"}), nullptr);
  EXPECT_EQ(kept.held_by(1), Ids{});
  kept.arrived("again", MessageId{"t1"}, 1);
  EXPECT_FALSE(kept.was_given_back(MessageId{"t1"}));
  EXPECT_EQ(kept.held_by(1), Ids{"t1"});
  kept.answered("again", {"client", "answer"});
  EXPECT_EQ(kept.find_latest(MessageId{"t1"})->reply.at(1), "answer");
}

TEST(KeptReplies, WhatIsGivenBackIsForgottenAsRepliesAre) {
  KeptReplies kept{{.count = 1, .bytes = 100, .of_one = 100}};
  for (const char* name : {"a", "b"}) {
    kept.arrived(name, MessageId{name}, 1);
    kept.given_back(name);
  }
  EXPECT_EQ(kept.find("a"), nullptr);
  EXPECT_NE(kept.find("b"), nullptr);
}

TEST(KeptReplies, OfAReplyThatIsTooLongOnlyThatItWasGivenIsKept) {
  KeptReplies kept{{.count = 10, .bytes = 100, .of_one = 50}};
  EXPECT_TRUE(kept.has_room_for(50));
  EXPECT_FALSE(kept.has_room_for(51));
  kept.arrived("sig", MessageId{"t1"}, 1);
  kept.answered("sig", {});
  EXPECT_TRUE(kept.find("sig")->is_answered);
  EXPECT_TRUE(kept.find("sig")->reply.empty());
}

TEST(KeptReplies, TheOldestAreForgottenBeyondTheirNumberAndTheirBytes) {
  KeptReplies kept{{.count = 3, .bytes = 100, .of_one = 100}};
  for (const char* name : {"a", "b", "c", "d"}) {
    kept.arrived(name, MessageId{name}, 1);
    kept.answered(name, reply_of(20));
  }
  EXPECT_EQ(kept.find("a"), nullptr);
  EXPECT_NE(kept.find("b"), nullptr);
  kept.arrived("e", MessageId{"e"}, 1);
  kept.answered("e", reply_of(70));
  EXPECT_EQ(kept.find("c"), nullptr);
  EXPECT_NE(kept.find("d"), nullptr);
  EXPECT_NE(kept.find("e"), nullptr);
}

TEST(KeptReplies, ARequestThatRunsIsNeverForgotten) {
  KeptReplies kept{{.count = 1, .bytes = 100, .of_one = 100}};
  kept.arrived("long", MessageId{"long"}, 1);
  for (const char* name : {"a", "b", "c"}) {
    kept.arrived(name, MessageId{name}, 1);
    kept.answered(name, reply_of(20));
  }
  EXPECT_NE(kept.find("long"), nullptr);
}

TEST(KeptReplies, WhatIsForgottenIsNotFoundByItsIdEither) {
  KeptReplies kept{{.count = 1, .bytes = 100, .of_one = 100}};
  for (const char* signature : {"first", "second"}) {
    kept.arrived(signature, MessageId{"t1"}, 1);
    kept.answered(signature, {"client", signature});
  }
  EXPECT_EQ(kept.find_latest(MessageId{"t1"})->reply.at(1), "second");
  kept.arrived("other", MessageId{"t2"}, 1);
  kept.answered("other", {"client"});
  EXPECT_EQ(kept.find_latest(MessageId{"t1"}), nullptr);
}

TEST(KeptReplies, AnEarlierFormOfATaskThatWaitsOrRunsAddsNothing) {
  KeptReplies kept;
  const MessageId task{"t1"};
  EXPECT_EQ(kept.find_attempt({"first form", task}), nullptr);
  kept.arrived("second form", task, 1, 1);
  EXPECT_EQ(kept.find_attempt({"first form", task}), kept.find("second form"));
  EXPECT_EQ(kept.find_attempt({"third form", task, 2}), kept.find("second form"));
  EXPECT_EQ(kept.find_attempt({"first form", MessageId{"t2"}}), nullptr);
}

TEST(KeptReplies, OfATaskThatIsDoneOnlyALaterRepetitionIsAnotherAttempt) {
  KeptReplies kept;
  const MessageId task{"t1"};
  kept.arrived("second form", task, 1, 1);
  kept.answered("second form", {"client", "answer"});
  EXPECT_EQ(kept.find_attempt({"first form", task}), kept.find("second form"));
  EXPECT_EQ(kept.find_attempt({"another second form", task, 1}), kept.find("second form"));
  EXPECT_EQ(kept.find_attempt({"third form", task, 2}), nullptr);
  EXPECT_EQ(kept.find_attempt({"third form", task, 2, true}), kept.find("second form"));
}

TEST(KeptReplies, AFormThatFailedIsAnsweredByTheLatestAttempt) {
  KeptReplies kept;
  const MessageId task{"t1"};
  kept.arrived("first form", task, 1);
  kept.answered("first form", {"client", "failed"});
  EXPECT_EQ(kept.find_attempt({"second form", task, 1}), nullptr);
  kept.arrived("second form", task, 1, 1);
  EXPECT_EQ(kept.find_attempt({"first form", task, 0, true}), kept.find("second form"));
  kept.answered("second form", {"client", "answer"});
  EXPECT_EQ(kept.find_attempt({"first form", task, 0, true}), kept.find("second form"));
}

TEST(KeptReplies, OfATaskThatWasGivenBackAnotherFormIsToRun) {
  KeptReplies kept;
  const MessageId task{"t1"};
  kept.arrived("second form", task, 1, 1);
  kept.given_back("second form");
  EXPECT_EQ(kept.find_attempt({"first form", task}), nullptr);
  EXPECT_EQ(kept.find_attempt({"second form", task, 1, true}), kept.find("second form"));
  kept.arrived("third form", task, 1, 2);
  EXPECT_EQ(kept.find_attempt({"second form", task, 1, true}), kept.find("third form"));
}

TEST(KeptReplies, TellsTheLatestAttemptsAtTasksOfSeveralRanks) {
  KeptReplies kept;
  kept.arrived("alone", MessageId{"t0"}, 1);
  kept.arrived("first", MessageId{"t1"}, 1, 0, "[1]");
  kept.answered("first", {"failed"});
  kept.arrived("second", MessageId{"t1"}, 1, 1, "[2]");
  kept.arrived("returned", MessageId{"t2"}, 1, 0, "[3]");
  kept.given_back("returned");
  const auto ranks = kept.ranks_held_by(1);
  ASSERT_EQ(ranks.size(), 1u);
  EXPECT_EQ(ranks[0]->msg_id.text, "t1");
  EXPECT_EQ(ranks[0]->repetition, 1);
  EXPECT_EQ(ranks[0]->gang, "[2]");
  EXPECT_TRUE(kept.ranks_held_by(0).empty());
}

TEST(KeptReplies, OfAnsweredTasksOfSeveralRanksOnlyTheLatestAreTold) {
  KeptReplies kept;
  kept.arrived("running", MessageId{"runs"}, 1, 0, "[]");
  for (int i = 1; i <= 70; ++i) {
    const std::string id = std::to_string(i);
    kept.arrived("s" + id, MessageId{id}, 1, 0, "[]");
    kept.answered("s" + id, {"done"});
  }
  const auto ranks = kept.ranks_held_by(1);
  ASSERT_EQ(ranks.size(), 65u);
  EXPECT_EQ(ranks.front()->msg_id.text, "runs");
  EXPECT_EQ(ranks[1]->msg_id.text, "70");
  EXPECT_EQ(ranks.back()->msg_id.text, "7");
}

TEST(KeptReplies, WhatIsNotSignedHasNoName) {
  KeptReplies kept;
  kept.arrived("", MessageId{"t1"}, 1);
  kept.answered("", {"client"});
  EXPECT_EQ(kept.find(""), nullptr);
  EXPECT_EQ(kept.held_by(1), Ids{});
}

}  // namespace
}  // namespace px::engine
