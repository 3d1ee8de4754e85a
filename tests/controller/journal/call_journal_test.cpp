#include "controller/journal/call_journal.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/memory_store.hpp"
#include "controller/journal/joined_frames.hpp"
#include "controller/relay/call_keeper.hpp"
#include "tests/controller/journal/memory_storage.hpp"

namespace px::controller {
namespace {

const EngineUuid ann{"ann"}, bob{"bob"};

std::vector<std::string> texts(const Frames& frames) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < frames.size(); ++i) all.emplace_back(frames.at(i));
  return all;
}

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

/// One controller after another on one disk.
class CallJournalTest : public testing::Test {
 protected:
  CallJournalTest() { begin(); }
  void begin() { calls_ = open_journal(); }
  std::unique_ptr<CallJournal> open_journal(std::size_t most_owed_bytes = std::size_t{1} << 30) {
    JournalOptions options{.cluster = "ours", .limits = CallJournal::limits()};
    options.longest = CallJournal::longest;
    return std::make_unique<CallJournal>(std::make_unique<Journal>(storage_, options),
                                         session_.fork(), most_owed_bytes);
  }
  std::vector<LeftCall> begin_again() {
    EXPECT_TRUE(calls_->commit_late());
    begin();
    std::vector<LeftCall> left = calls_->replay();
    EXPECT_TRUE(calls_->commit_late());
    return left;
  }
  SharedFrames message(std::vector<std::string> idents, std::string type, std::string parent,
                       Json content = Json::object(), Json metadata = Json::object(),
                       std::string buffer = "buffer") {
    Draft draft{std::move(idents), std::move(type),    std::move(parent), std::move(metadata),
                std::move(content), {std::move(buffer)}};
    return std::make_shared<TextFrames>(session_.compose(draft, wall_now()));
  }
  SharedFrames request(const EngineUuid& engine, const std::string& type = "execute_request",
                       std::string buffer = "buffer") {
    return message({"client", engine.text}, type, "{}", Json::object(), Json::object(),
                   std::move(buffer));
  }
  /// The request is written.
  SharedFrames ask(const EngineUuid& engine) {
    const SharedFrames asked = request(engine);
    calls_->requested(asked);
    EXPECT_TRUE(calls_->commit());
    return asked;
  }
  std::vector<SharedFrames> owed_by(const EngineUuid& engine) const {
    return calls_->owed_by(engine, CallChannel::mux);
  }
  SharedFrames reply_to(const Frames& asked, Json content = {{"status", "ok"}},
                        std::string buffer = "buffer") {
    return message({std::string(asked.at(1)), "client"}, "execute_reply", std::string(asked.at(4)),
                   std::move(content), {{"status", "ok"}}, std::move(buffer));
  }
  void publish(const Frames& asked, const std::string& text) {
    const SharedFrames output = message({"topic"}, "stream", std::string(asked.at(4)),
                                        {{"name", "stdout"}, {"text", text}});
    calls_->published(output, *Envelope::locate(*output, 1));
  }

  Session session_{SessionId{"session"}, "alice", Packer::json,
                   *Signer::create("hmac-sha256", "key")};
  const std::shared_ptr<MemoryStorage> storage_ = std::make_shared<MemoryStorage>();
  std::unique_ptr<CallJournal> calls_;
};

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

class CallKeeperTest : public CallJournalTest {
 protected:
  static constexpr Duration patience = std::chrono::seconds(30);
  static Instant at(Duration since_start) { return Instant{} + since_start; }
  /// The journal is the one that ann and bob owe something in.
  CallKeeper keeper() {
    return {open_journal(), patience,
            [this](const LeftCall& call) { recorded_.push_back(call); }};
  }
  std::vector<LeftCall> recorded_;
};

TEST_F(CallKeeperTest, WaitsForEnginesThatOweSomethingToAnEarlierController) {
  ask(ann);
  ask(bob);
  CallKeeper calls = keeper();
  EXPECT_EQ(calls.restore(at(std::chrono::seconds(1))).size(), 2u);
  EXPECT_EQ(recorded_.size(), 2u);
  EXPECT_EQ(calls.awaited().size(), 2u);
  EXPECT_EQ(calls.next_deadline(), at(std::chrono::seconds(31)));
  calls.engine_returned(bob);
  EXPECT_TRUE(calls.on_time(at(std::chrono::seconds(30))).empty());
  EXPECT_EQ(calls.on_time(at(std::chrono::seconds(31))), std::vector<EngineUuid>{ann});
  ASSERT_EQ(recorded_.size(), 3u);
  EXPECT_EQ(recorded_[2].engine, ann);
  EXPECT_EQ(recorded_[2].error_name, "EngineError");
  EXPECT_EQ(calls.owed(), 1u);
  EXPECT_EQ(calls.next_deadline(), std::nullopt);
}

TEST_F(CallKeeperTest, EndsWhatAnEngineThatIsGoneIsAskedFor) {
  CallKeeper calls = keeper();
  const SharedFrames asked = request(ann);
  calls.requested(asked);
  calls.await(ann, at(std::chrono::seconds(0)));
  EXPECT_TRUE(calls.on_time(at(patience) - std::chrono::milliseconds(1)).empty());
  EXPECT_EQ(calls.on_time(at(patience)), std::vector<EngineUuid>{ann});
  ASSERT_EQ(recorded_.size(), 1u);
  EXPECT_EQ(recorded_[0].msg_id, read_msg_id(Packer::json, asked->at(4)));
  EXPECT_NE(recorded_[0].error_value.find("had ended when this request came"), std::string::npos);
  EXPECT_EQ(calls.owed(), 0u);
}

TEST_F(CallKeeperTest, AnEngineThatComesAndGoesIsWaitedForAnew) {
  CallKeeper calls = keeper();
  calls.await(ann, at(std::chrono::seconds(0)));
  calls.engine_returned(ann);
  calls.await(ann, at(std::chrono::seconds(20)));
  EXPECT_TRUE(calls.on_time(at(std::chrono::seconds(30))).empty());
  EXPECT_EQ(calls.on_time(at(std::chrono::seconds(50))), std::vector<EngineUuid>{ann});
}

TEST_F(CallKeeperTest, WaitsWithoutAJournalToo) {
  CallKeeper calls{nullptr, patience, [](const LeftCall&) {}};
  calls.await(ann, at(std::chrono::seconds(0)));
  EXPECT_EQ(calls.on_time(at(patience)), std::vector<EngineUuid>{ann});
}

/// A disk that has what was written when a test says so.
class SlowDisk final : public JournalSync {
 public:
  void request(std::uint64_t number) override { requested_ = number; }
  std::uint64_t synced() const override { return synced_; }
  std::optional<Error> error() const override { return std::nullopt; }
  void finish() { synced_ = requested_; }

 private:
  std::uint64_t requested_ = 0, synced_ = 0;
};

/// Requests that wait for the disk, and the records.
class HeldRequestsTest : public CallKeeperTest {
 protected:
  void take(const SharedFrames& request) {
    keeper_.requested(request);
    requests_.pass_on({request});
  }
  void disk_has_all() {
    disk_->finish();
    requests_.on_journal();
  }
  void tell(const HubEvent& event) { hub_.on(event, wall_now(), at({})); }
  void ann_joins() {
    tell(EngineJoined{EngineId{0}, ann});
    keeper_.engine_returned(ann);
  }
  void ann_dies() {
    keeper_.engine_left(ann);
    tell(EngineLeft{EngineId{0}, ann, {.engine = "ann", .why = "it died"}});
  }
  /// What its record says of how it ended.
  std::string end_of(const Frames& request) {
    hub_.on_time(wall_now(), at(HubOptions{}.registration_timeout));
    std::string content;
    store_->find(read_msg_id(Packer::json, request.at(4)), [&](const TaskRecord& record) {
      if (record.result.has_value()) content = record.result.content();
    });
    return content;
  }

  SlowDisk* const disk_ = new SlowDisk;         // the journal's
  MemoryStore* const store_ = new MemoryStore;  // the hub's
  Hub hub_{session_.fork(), std::unique_ptr<TaskStore>(store_)};
  CallKeeper keeper_{
      std::make_unique<CallJournal>(
          std::make_unique<Journal>(
              storage_,
              JournalOptions{.mode = JournalMode::power, .limits = CallJournal::limits()},
              std::unique_ptr<JournalSync>(disk_)),
          session_.fork()),
      patience, [](const LeftCall&) {}};
  std::vector<SharedFrames> passed_;
  HeldRequests<SharedFrames> requests_{
      keeper_, [this](const SharedFrames& request) { passed_.push_back(request); },
      [this](const DirectSubmitted& call) { tell(call); }};
};

TEST_F(HeldRequestsTest, ArePassedOnWhenTheDiskHasThem) {
  ann_joins();
  const SharedFrames asked = request(ann);
  take(asked);
  EXPECT_TRUE(passed_.empty());
  disk_has_all();
  EXPECT_EQ(passed_, std::vector{asked});
}

TEST_F(HeldRequestsTest, EndInTheRecordsWhereTheirEngineDiesMeanwhile) {
  ann_joins();
  const SharedFrames asked = request(ann);
  take(asked);
  ann_dies();
  disk_has_all();
  EXPECT_NE(end_of(*asked).find("EngineError"), std::string::npos);
}

TEST_F(HeldRequestsTest, WaitForTheDiskAlsoWhereTheirEngineComesBackMeanwhile) {
  const SharedFrames asked = request(ann);
  keeper_.await(ann, at({}));
  take(asked);
  ann_joins();
  requests_.pass_again(keeper_.owed_by(ann, CallChannel::mux));
  EXPECT_TRUE(passed_.empty());
  disk_has_all();
  EXPECT_EQ(passed_.size(), 2u);
  requests_.pass_again(keeper_.owed_by(ann, CallChannel::mux));
  EXPECT_EQ(passed_.size(), 3u);
}

TEST_F(HeldRequestsTest, KeepTheirOrderWhereAFullDiskDoesNotTakeTheLaterOnes) {
  const SharedFrames first = request(ann), second = request(ann);
  take(first);
  storage_->set_full(true);
  take(second);
  EXPECT_TRUE(passed_.empty());
  disk_has_all();
  EXPECT_EQ(passed_, (std::vector{first, second}));
}

TEST_F(HeldRequestsTest, AreInTheRecordsWhileTheirEngineIsAwaited) {
  const SharedFrames asked = request(ann);
  keeper_.await(ann, at({}));
  take(asked);
  ann_joins();
  const SharedFrames reply = reply_to(*asked);
  tell(DirectFinished{ann, reply});
  EXPECT_EQ(end_of(*asked), reply->at(6));
}

TEST_F(HeldRequestsTest, AreNotInTheRecordsWhereTheirEngineIsUnknown) {
  const SharedFrames asked = request(ann);
  take(asked);
  bool is_there = false;
  store_->find(read_msg_id(Packer::json, asked->at(4)),
               [&](const TaskRecord&) { is_there = true; });
  EXPECT_FALSE(is_there);
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
