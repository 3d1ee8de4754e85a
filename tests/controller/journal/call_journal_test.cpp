#include "controller/journal/call_journal.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "controller/journal/joined_frames.hpp"
#include "tests/controller/journal/call_journal_fixture.hpp"

namespace px::controller {
namespace {

TEST(JoinedFrames, AreSplitAgain) {
  const auto one = std::make_shared<TextFrames>(std::vector<std::string>{"a", "", "3"});
  const auto two = std::make_shared<TextFrames>(std::vector<std::string>{"b"});
  const auto parts = split(joined({one, two}));
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(texts(*parts[0]), texts(*one));
  EXPECT_EQ(texts(*parts[1]), texts(*two));
}

TEST(JoinedFrames, OtherFramesAreNotSplit) {
  EXPECT_TRUE(split(std::make_shared<TextFrames>(std::vector<std::string>{"2", "a"})).empty());
  EXPECT_TRUE(split(std::make_shared<TextFrames>(std::vector<std::string>{"x", "a"})).empty());
}

TEST_F(CallJournalTest, WhatAnEngineOwesIsAskedForAgainInItsOrder) {
  const SharedFrames first = ask(ann), of_bob = ask(bob), second = ask(ann);
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 3u);
  EXPECT_TRUE(left[0].is_open);
  EXPECT_EQ(left[1].engine, bob);
  const auto owed = owed_by(ann);
  ASSERT_EQ(owed.size(), 2u);
  EXPECT_EQ(texts(*owed[0]), texts(*first));
  EXPECT_EQ(texts(*owed[1]), texts(*second));
}

TEST_F(CallJournalTest, TheCopyOfABroadcastIsAskedForAgainByTheChannelOfBroadcasts) {
  const SharedFrames direct = ask(ann);
  const SharedFrames copy = message({"client", "ann"}, "execute_request", "{}", Json::object(),
                                    {{"original_msg_id", "one"}, {"is_broadcast", true}});
  calls_->requested(copy);
  EXPECT_TRUE(calls_->commit());
  for (int i = 0; i < 2; ++i) {
    const auto owed = calls_->owed_by(ann, CallChannel::broadcast);
    ASSERT_EQ(owed.size(), 1u);
    EXPECT_EQ(texts(*owed[0]), texts(*copy));
    ASSERT_EQ(owed_by(ann).size(), 1u);
    EXPECT_EQ(texts(*owed_by(ann)[0]), texts(*direct));
    EXPECT_EQ(begin_again().size(), 2u);
  }
}

TEST_F(CallJournalTest, AReplyIsThereLaterWithWhatWasPrintedBeforeAndAfterIt) {
  const SharedFrames asked = ask(ann);
  publish(*asked, "before");
  const SharedFrames reply = reply_to(*asked);
  calls_->replied(reply);
  EXPECT_TRUE(calls_->commit());
  publish(*asked, "after");
  for (int i = 0; i < 2; ++i) {
    const auto left = begin_again();
    ASSERT_EQ(left.size(), 1u);
    EXPECT_FALSE(left[0].is_open);
    ASSERT_TRUE(left[0].reply);
    EXPECT_EQ(texts(*left[0].reply), texts(*reply));
    ASSERT_EQ(left[0].outputs.size(), 2u);
    EXPECT_NE(std::string(left[0].outputs[0]->at(6)).find("before"), std::string::npos);
    EXPECT_NE(std::string(left[0].outputs[1]->at(6)).find("after"), std::string::npos);
    EXPECT_TRUE(owed_by(ann).empty());
  }
}

TEST_F(CallJournalTest, AReplyThatIsNotSignedRightlyIsNotReadAgain) {
  const SharedFrames asked = request(ann);
  auto changed = texts(*reply_to(*asked));
  changed[6] = changed[6] + " ";
  Journal journal{storage_, {.cluster = "ours"}};
  journal.submitted(MessageId{"one"}, *asked);
  EXPECT_TRUE(journal.commit());
  journal.finished(MessageId{"one"}, ann, TaskOutcome::ok,
                   joined({std::make_shared<TextFrames>(changed)}));
  EXPECT_TRUE(journal.commit());
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_FALSE(left[0].reply);
  EXPECT_TRUE(left[0].outputs.empty());
  EXPECT_EQ(left[0].error_name, "ResultLost");
}

TEST_F(CallJournalTest, TheOutputOfOneCallIsBounded) {
  const SharedFrames asked = ask(ann);
  for (int i = 0; i < 20; ++i) publish(*asked, std::string(10'000, 'x'));
  calls_->replied(reply_to(*asked));
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].outputs.size(), 6u);
  EXPECT_TRUE(left[0].reply);
}

TEST_F(CallJournalTest, WhatIsOwedIsBoundedByItsBytes) {
  calls_ = open_journal(2000);
  std::vector<SharedFrames> asked;
  for (int i = 0; i < 5; ++i) {
    asked.push_back(request(i == 0 ? bob : ann, "execute_request", std::string(1000, 'x')));
    calls_->requested(asked.back());
  }
  EXPECT_EQ(calls_->owed(), 2u);
  EXPECT_TRUE(calls_->is_full());
  calls_->replied(reply_to(*asked[1]));
  EXPECT_FALSE(calls_->is_full());
  calls_->engine_left(bob);
  calls_->requested(asked[2]);
  calls_->requested(asked[3]);
  calls_->requested(asked[4]);
  EXPECT_EQ(owed_by(ann).size(), 2u);
}

TEST_F(CallJournalTest, WhatADeadEngineOwedIsAnErrorThatSaysSo) {
  const SharedFrames asked = ask(ann);
  calls_->engine_left(ann);
  EXPECT_TRUE(owed_by(ann).empty());
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].error_name, "EngineError");
  EXPECT_EQ(left[0].error_value,
            "Engine 'ann' died while running task '" + left[0].msg_id.text + "'");
}

TEST_F(CallJournalTest, WhatADeadEngineHasPrintedIsThereLater) {
  const SharedFrames asked = ask(ann);
  publish(*asked, "before");
  calls_->engine_left(ann);
  for (int i = 0; i < 2; ++i) {
    const auto left = begin_again();
    ASSERT_EQ(left.size(), 1u);
    EXPECT_FALSE(left[0].reply);
    EXPECT_EQ(left[0].error_name, "EngineError");
    ASSERT_EQ(left[0].outputs.size(), 1u);
    EXPECT_NE(std::string(left[0].outputs[0]->at(6)).find("before"), std::string::npos);
    calls_->requested(asked);  // its client has not heard of it
    calls_->give_up(ann);
  }
}

TEST_F(CallJournalTest, EnginesThatDoNotComeBackAreGivenUp) {
  ask(ann);
  ask(bob);
  begin_again();
  const auto lost = calls_->give_up(ann);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].error_name, "EngineError");
  EXPECT_NE(lost[0].error_value.find("did not come back"), std::string::npos);
  EXPECT_EQ(owed_by(bob).size(), 1u);
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 2u);
  EXPECT_FALSE(left[0].is_open);
  EXPECT_TRUE(left[1].is_open);
}

TEST_F(CallJournalTest, LongMessagesAreLeftOut) {
  calls_->requested(request(ann, "execute_request", std::string(CallJournal::longest, 'x')));
  EXPECT_TRUE(owed_by(ann).empty());
  const SharedFrames asked = ask(ann);
  calls_->replied(reply_to(*asked, {{"status", "ok"}}, std::string(CallJournal::longest, 'x')));
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].error_name, "ResultLost");
}

TEST_F(CallJournalTest, WhatIsNoCallOrNotSignedRightlyIsLeftOut) {
  calls_->requested(request(ann, "comm_msg"));
  auto changed = texts(*request(ann));
  changed[4] = changed[4] + " ";
  calls_->requested(std::make_shared<TextFrames>(changed));
  EXPECT_TRUE(owed_by(ann).empty());
  EXPECT_TRUE(begin_again().empty());
}

TEST_F(CallJournalTest, ARequestThatComesTwiceIsWrittenOnce) {
  const SharedFrames asked = ask(ann);
  calls_->requested(asked);
  EXPECT_EQ(owed_by(ann).size(), 1u);
  EXPECT_EQ(begin_again().size(), 1u);
}

TEST_F(CallJournalTest, ThatAnEngineHasNotKeptAReplyDoesNotOverruleTheReply) {
  const SharedFrames asked = ask(ann);
  calls_->replied(reply_to(*asked));
  begin_again();
  calls_->requested(asked);  // its client did not get the reply
  calls_->replied(reply_to(*asked, error_content("ResultLost", "it was done")));
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  ASSERT_TRUE(left[0].reply);
  EXPECT_EQ(Json::parse(left[0].reply->at(6))["status"], "ok");
}

TEST_F(CallJournalTest, AReplyThatComesOnceMoreDoesNotTakeAwayWhatWasPrinted) {
  const SharedFrames asked = ask(ann);
  const SharedFrames reply = reply_to(*asked);
  publish(*asked, "before");
  calls_->replied(reply);
  EXPECT_TRUE(calls_->commit());
  for (int i = 0; i < 2; ++i) {  // under this controller, and under the next one
    calls_->requested(asked);    // its client did not get the reply
    if (i == 0) publish(*asked, "after");
    calls_->replied(reply);
    const auto left = begin_again();
    ASSERT_EQ(left.size(), 1u);
    ASSERT_TRUE(left[0].reply);
    EXPECT_EQ(left[0].outputs.size(), 2u);
    EXPECT_TRUE(owed_by(ann).empty());
  }
}

TEST_F(CallJournalTest, OutputThatAFullDiskDoesNotTakeDoesNotTakeAwayTheReply) {
  const SharedFrames asked = ask(ann);
  publish(*asked, "before");
  calls_->replied(reply_to(*asked));
  EXPECT_TRUE(calls_->commit());
  storage_->set_full(true);
  publish(*asked, "after");
  EXPECT_FALSE(calls_->commit_late());
  storage_->set_full(false);
  ask(bob);
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 2u);
  ASSERT_TRUE(left[0].reply);
  EXPECT_EQ(left[0].outputs.size(), 1u);
}

TEST_F(CallJournalTest, AFullDiskIsNoticedAndForgotten) {
  storage_->set_full(true);
  calls_->requested(request(ann));
  EXPECT_FALSE(calls_->commit());
  storage_->set_full(false);
  ask(bob);
  const auto left = begin_again();
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left[0].engine, bob);
}

}  // namespace
}  // namespace px::controller
