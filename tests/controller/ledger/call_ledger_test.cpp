#include "controller/ledger/call_ledger.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "controller/hub/hub.hpp"
#include "controller/hub/memory_store.hpp"
#include "tests/controller/journal/call_journal_fixture.hpp"
#include "tests/controller/journal/slow_disk.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 30s;

Instant at(Duration since_start) {
  return Instant{} + since_start;
}

/// A ledger, with the hub's records behind it and lists in the place of sockets.
class CallLedgerTest : public CallJournalTest, public CallTransport {
 protected:
  bool is_member(const EngineUuid& engine) const override { return members_.contains(engine); }
  std::optional<Problem> overload(CallChannel, const EngineUuid& engine) const override {
    if (engine != busy_) return std::nullopt;
    return Problem{"Overloaded", "too much waits for it"};
  }
  SharedFrames whole(const SharedFrames& frames) const override { return frames; }
  WallTime wall() const override { return WallTime{}; }
  void ask(CallChannel channel, const SharedFrames& call) override {
    (channel == CallChannel::mux ? asked_ : copies_).push_back(call);
  }
  void answer(const SharedFrames& reply) override { answers_.push_back(reply); }
  void answer(const BroadcastToClient& message) override {
    answers_.push_back(spliced(message.head, message.runs));
  }
  void record(HubEvent event) override { hub_.on(event, wall(), at({})); }

  std::unique_ptr<CallLedger> make_ledger(std::unique_ptr<CallJournal> journal) {
    return std::make_unique<CallLedger>(std::move(journal), session_.fork(), patience, *this);
  }
  std::unique_ptr<CallJournal> slow_journal() {
    return std::make_unique<CallJournal>(
        std::make_unique<Journal>(
            storage_, JournalOptions{.mode = JournalMode::power, .limits = CallJournal::limits()},
            std::unique_ptr<JournalSync>(disk_ = new SlowDisk)),
        session_.fork());
  }
  void take(const SharedFrames& call, Instant now = at({})) {
    ledger_->requested(call, now);
    ledger_->commit();
  }
  void take_reply(const SharedFrames& reply) {
    ledger_->replied(CallChannel::mux, reply);
    ledger_->commit();
  }
  void disk_has_all() {
    disk_->finish();
    ledger_->on_journal();
  }
  void joins(const EngineUuid& engine) {
    members_.insert(engine);
    record(EngineJoined{EngineId{0}, engine});
    ledger_->engine_joined(engine);
  }
  void dies(const EngineUuid& engine) {
    members_.erase(engine);
    record(EngineLeft{engine, {.engine = engine.text, .why = "it died"}});
    ledger_->engine_left(engine, {.engine = engine.text, .why = "it died"});
  }
  static MessageId id_of(const Frames& request) { return read_msg_id(Packer::json, request.at(4)); }
  /// What its record says of how it ended.
  std::string end_of(const Frames& request) {
    hub_.on_time(wall(), at(HubOptions{}.registration_timeout));
    std::string content;
    store_->find(id_of(request), [&](const TaskRecord& record) {
      if (record.result.has_value()) content = record.result.content();
    });
    return content;
  }
  bool has_record(const Frames& request) {
    bool is_there = false;
    store_->find(id_of(request), [&](const TaskRecord&) { is_there = true; });
    return is_there;
  }
  static std::string error_in(const Frames& reply) {
    return packed_text(Packer::json, Envelope::locate(reply, 2)->content, "ename").value_or("");
  }

  std::set<EngineUuid> members_;
  EngineUuid busy_;
  std::vector<SharedFrames> asked_, copies_, answers_;
  SlowDisk* disk_ = nullptr;                    // of slow_journal()
  MemoryStore* const store_ = new MemoryStore;  // the hub's
  Hub hub_{session_.fork(), std::unique_ptr<TaskStore>(store_)};
  std::unique_ptr<CallLedger> ledger_ = make_ledger(slow_journal());
};

TEST_F(CallLedgerTest, PassesRequestsOnWhenTheDiskHasThem) {
  joins(ann);
  const SharedFrames asked = request(ann);
  take(asked);
  EXPECT_TRUE(asked_.empty());
  disk_has_all();
  EXPECT_EQ(asked_, std::vector{asked});
}

TEST_F(CallLedgerTest, PassesRepliesOnWhenTheDiskHasThem) {
  joins(ann);
  const SharedFrames asked = request(ann), reply = reply_to(*asked);
  take(asked);
  disk_has_all();
  take_reply(reply);
  EXPECT_TRUE(answers_.empty());
  disk_has_all();
  EXPECT_EQ(answers_, std::vector{reply});
  EXPECT_EQ(end_of(*asked), reply->at(6));
}

TEST_F(CallLedgerTest, WaitsForNothingWithoutAJournal) {
  ledger_ = make_ledger(nullptr);
  joins(ann);
  const SharedFrames asked = request(ann), reply = reply_to(*asked);
  ledger_->requested(asked, at({}));
  EXPECT_EQ(asked_, std::vector{asked});
  ledger_->replied(CallChannel::mux, reply);
  EXPECT_EQ(answers_, std::vector{reply});
  EXPECT_EQ(end_of(*asked), reply->at(6));
}

TEST_F(CallLedgerTest, EndsInTheRecordsWhatWaitsForTheDiskWhenItsEngineDies) {
  joins(ann);
  const SharedFrames asked = request(ann);
  take(asked);
  dies(ann);
  disk_has_all();
  EXPECT_NE(end_of(*asked).find("EngineError"), std::string::npos);
}

TEST_F(CallLedgerTest, AsksAgainBehindWhatWaitsForTheDisk) {
  const SharedFrames asked = request(ann);
  take(asked);
  joins(ann);
  EXPECT_TRUE(asked_.empty());
  disk_has_all();
  EXPECT_EQ(asked_.size(), 2u);
  ledger_->engine_reconnected(ann, CallChannel::mux);
  EXPECT_EQ(asked_.size(), 3u);
  ledger_->engine_reconnected(ann, CallChannel::broadcast);
  EXPECT_EQ(asked_.size(), 3u);
}

TEST_F(CallLedgerTest, KeepsTheOrderWhereAFullDiskDoesNotTakeTheLaterOnes) {
  joins(ann);
  const SharedFrames first = request(ann), second = request(ann);
  take(first);
  storage_->set_full(true);
  take(second);
  EXPECT_TRUE(asked_.empty());
  disk_has_all();
  EXPECT_EQ(asked_, (std::vector{first, second}));
}

TEST_F(CallLedgerTest, RecordsWhatAnAwaitedEngineIsAskedFor) {
  const SharedFrames asked = request(ann);
  take(asked);
  joins(ann);
  const SharedFrames reply = reply_to(*asked);
  record(DirectFinished{ann, reply});
  EXPECT_EQ(end_of(*asked), reply->at(6));
}

TEST_F(CallLedgerTest, RecordsNothingOfAnUnknownEngineWithoutAJournal) {
  ledger_ = make_ledger(nullptr);
  const SharedFrames asked = request(ann);
  take(asked);
  EXPECT_FALSE(has_record(*asked));
}

TEST_F(CallLedgerTest, WaitsForEnginesThatOweSomethingToAnEarlierController) {
  const SharedFrames of_ann = CallJournalTest::ask(ann), of_bob = CallJournalTest::ask(bob);
  ledger_ = make_ledger(open_journal());
  EXPECT_EQ(ledger_->restore(at(1s)).size(), 2u);
  EXPECT_TRUE(has_record(*of_ann));
  EXPECT_EQ(ledger_->awaited().size(), 2u);
  EXPECT_EQ(ledger_->next_deadline(), at(31s));
  joins(bob);
  EXPECT_EQ(asked_.size(), 1u);
  ledger_->on_time(at(30s));
  EXPECT_EQ(ledger_->owed(), 2u);
  ledger_->on_time(at(31s));
  EXPECT_NE(end_of(*of_ann).find("did not come back"), std::string::npos);
  EXPECT_EQ(ledger_->owed(), 1u);
  EXPECT_EQ(ledger_->next_deadline(), std::nullopt);
}

TEST_F(CallLedgerTest, EndsWhatAnEngineThatIsGoneIsAskedFor) {
  const SharedFrames asked = request(ann);
  take(asked);
  ledger_->on_time(at(patience - 1ms));
  EXPECT_EQ(ledger_->owed(), 1u);
  ledger_->on_time(at(patience));
  EXPECT_NE(end_of(*asked).find("had ended when this request came"), std::string::npos);
  EXPECT_EQ(ledger_->owed(), 0u);
}

TEST_F(CallLedgerTest, WaitsAnewForAnEngineThatComesAndGoes) {
  take(request(ann), at(0s));
  joins(ann);
  dies(ann);
  take(request(ann), at(20s));
  ledger_->on_time(at(30s));
  EXPECT_EQ(ledger_->awaited().size(), 1u);
  ledger_->on_time(at(50s));
  EXPECT_TRUE(ledger_->awaited().empty());
}

TEST_F(CallLedgerTest, AnswersInThePlaceOfAnEngineForWhichTooMuchWaits) {
  joins(ann);
  busy_ = ann;
  const SharedFrames asked = request(ann);
  take(asked);
  disk_has_all();
  EXPECT_TRUE(asked_.empty());
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(error_in(*answers_[0]), "Overloaded");
  EXPECT_NE(end_of(*asked).find("Overloaded"), std::string::npos);
}

/// Its client has lost the reply and asks again, and the engine has ended meanwhile.
TEST_F(CallLedgerTest, KeepsTheResultOfACallThatCannotBeAskedForAgain) {
  joins(ann);
  const SharedFrames asked = request(ann), reply = reply_to(*asked);
  take(asked);
  take_reply(reply);
  dies(ann);
  take(asked);
  ledger_->undelivered(CallChannel::mux, asked, {"EngineError", "it is not there"});
  disk_has_all();
  ASSERT_EQ(answers_.size(), 2u);
  EXPECT_EQ(error_in(*answers_[1]), "ResultLost");
  EXPECT_EQ(end_of(*asked), reply->at(6));
  EXPECT_EQ(ledger_->owed(), 0u);
}

TEST_F(CallLedgerTest, KeepsItWithoutAJournal) {
  ledger_ = make_ledger(nullptr);
  joins(ann);
  const SharedFrames asked = request(ann), reply = reply_to(*asked);
  take(asked);
  take_reply(reply);
  dies(ann);
  take(asked);
  ledger_->undelivered(CallChannel::mux, asked, {"EngineError", "it is not there"});
  EXPECT_EQ(end_of(*asked), reply->at(6));
}

TEST_F(CallLedgerTest, SendsACopyOfABroadcastToEachEngineAndGathersTheReplies) {
  joins(ann);
  members_.insert(bob);
  const Json targets = Json::array({{"ann", 0}, {"bob", 1}});
  const SharedFrames whole = message({"client"}, "execute_request", "{}", Json::object(),
                                     {{"targets", targets}, {"is_coalescing", true}});
  ASSERT_TRUE(ledger_->broadcast(whole, *Envelope::locate(*whole, 1), at({})));
  ledger_->commit();
  EXPECT_TRUE(copies_.empty());
  disk_has_all();
  ASSERT_EQ(copies_.size(), 2u);
  EXPECT_EQ(copies_[0]->at(1), "ann");
  EXPECT_EQ(ledger_->open_broadcasts(), 1u);
  dies(bob);
  disk_has_all();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_NE(std::string(answers_[0]->at(6)).find("EngineError"), std::string::npos);
  EXPECT_EQ(ledger_->open_broadcasts(), 0u);
}

TEST_F(CallLedgerTest, RefusesABroadcastWithoutTargets) {
  const SharedFrames whole = message({"client"}, "execute_request", "{}");
  EXPECT_FALSE(ledger_->broadcast(whole, *Envelope::locate(*whole, 1), at({})));
}

}  // namespace
}  // namespace px::controller
