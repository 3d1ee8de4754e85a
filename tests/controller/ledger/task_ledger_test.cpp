#include "controller/ledger/task_ledger.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/controller/journal/memory_storage.hpp"
#include "tests/controller/journal/slow_disk.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"};

Instant at(Duration since_start) {
  return Instant{} + 1h + since_start;
}

/// A ledger with lists in the place of sockets. A request is [client, delimiter, signature,
/// msg_id], a reply [engine, client, msg_id, text].
class TaskLedgerTest : public testing::Test, public TaskTransport {
 protected:
  std::optional<ArrivedTask> open_request(const SharedFrames& frames) override {
    if (frames->at(2) == "changed") return std::nullopt;
    return ArrivedTask{frames, 1, MessageId{frames->at(3)}};
  }
  bool is_right_reply(const Frames&) override { return true; }
  Result<TaskRules> rules_of(const ArrivedTask& task) override {
    TaskRules rules;
    const std::string& id = task.msg_id.text;
    if (id.ends_with("gang")) rules.ranks = {2, 2};
    if (id.starts_with("repeatable")) rules.retries = 1;
    constexpr std::string_view after = " after ";
    if (const auto at = id.find(after); at != std::string::npos)
      rules.after.msg_ids = {id.substr(at + after.size())};
    return rules;
  }
  SharedFrames whole(const SharedFrames& frames) override { return frames; }
  SharedFrames error_reply(const FailTask& failure) override {
    return frames({failure.engine.text, "client", failure.msg_id.text, failure.error_name});
  }
  void assign(AssignTask& task) override {
    assigned_.push_back(task.msg_id.text + " to " + task.engine.text);
    seats_ = task.gang;
    repetition_ = task.repetition;
  }
  void recall(const RecallTask&) override {}
  void interrupt(const InterruptTask& task) override {
    interrupted_.push_back(task.msg_id.text + " on " + task.engine.text +
                           (task.is_final ? " for ever" : ""));
  }
  SharedFrames answer(TaskAnswer& answer) override {
    tell(*answer.reply);
    return answer.reply;
  }
  void answer_again(const ArrivedTask&, const SharedFrames& reply) override { tell(*reply); }
  void refuse(const ArrivedTask& request, const Problem& problem) override {
    answers_.push_back(request.msg_id.text + ": " + problem.name);
  }
  void forward(const SharedFrames& reply) override { tell(*reply); }
  void accepted(const ArrivedTask&) override { ++accepted_; }
  SharedFrames record(HubEvent) override { return nullptr; }
  void tell(const Frames& reply) {
    answers_.push_back(std::string(reply.at(2)) + ": " + std::string(reply.at(3)));
  }

  static SharedFrames frames(std::vector<std::string> texts) {
    return std::make_shared<TextFrames>(std::move(texts));
  }
  std::unique_ptr<TaskLedger> make_ledger(JournalMode mode, Stocktaking stock = {},
                                          std::size_t most_tasks = 100) {
    std::unique_ptr<Journal> journal;
    if (mode == JournalMode::process)
      journal = std::make_unique<Journal>(storage_, JournalOptions{});
    if (mode == JournalMode::power)
      journal = std::make_unique<Journal>(storage_, JournalOptions{.mode = mode},
                                          std::unique_ptr<JournalSync>(disk_ = new SlowDisk));
    return std::make_unique<TaskLedger>(
        TaskQueueOptions{}, [] { return 0.5; }, std::move(stock), std::move(journal),
        TaskBacklog{{.tasks = most_tasks}, nullptr}, *this, at({}));
  }
  void ask(const std::string& id) {
    ledger_->requested(
        {frames({"client", "delimiter", "signature of " + id, id}), 1, MessageId{id}}, at({}));
    ledger_->commit(at({}));
  }
  /// For the answer to a request that was too long to be sent again.
  void ask_for_answer(const std::string& id) {
    ledger_->requested({frames({"client", "delimiter", "question after " + id, id}), 1,
                        MessageId{id}, false, "signature of " + id},
                       at({}));
    ledger_->commit(at({}));
  }
  void reply(const EngineUuid& engine, const std::string& id, const std::string& text = "done") {
    ledger_->replied({frames({engine.text, "client", id, text}), MessageId{id}, TaskOutcome::ok},
                     at({}));
    ledger_->commit(at({}));
  }
  void joins(const EngineUuid& engine) { ledger_->engine_joined(engine, false, at({})); }
  void disk_has_all() {
    disk_->finish();
    ledger_->on_journal(at({}));
  }
  using Texts = std::vector<std::string>;

  const std::shared_ptr<MemoryStorage> storage_ = std::make_shared<MemoryStorage>();
  SlowDisk* disk_ = nullptr;  // with JournalMode::power
  Texts assigned_, answers_, interrupted_;
  std::shared_ptr<const GangSeats> seats_;  // of the latest one that was assigned
  int repetition_ = 0;                      // the same
  int accepted_ = 0;
  std::unique_ptr<TaskLedger> ledger_ = make_ledger(JournalMode::off);
};

TEST_F(TaskLedgerTest, BringsATaskToAnEngineAndItsReplyBack) {
  joins(ann);
  ask("one");
  EXPECT_EQ(assigned_, Texts{"one to ann"});
  EXPECT_EQ(ledger_->unfinished(), 1u);
  reply(ann, "one");
  EXPECT_EQ(answers_, Texts{"one: done"});
  EXPECT_EQ(ledger_->unfinished(), 0u);
}

TEST_F(TaskLedgerTest, AfterARestartATaskWaitsForOneThatItsClientHasNotSentAgainYet) {
  ledger_ = make_ledger(JournalMode::off, {{ann}, at(5s)});
  ask("c after b after a");
  joins(ann);
  ledger_->engine_holds(ann, {}, false, at({}));
  ask("b after a");
  EXPECT_EQ(assigned_, Texts{});
  EXPECT_EQ(ledger_->unfinished(), 2u);
  ask("a");
  EXPECT_EQ(assigned_, Texts{"a to ann"});
  for (const std::string id : {"a", "b after a", "c after b after a"}) reply(ann, id);
  EXPECT_EQ(answers_, (Texts{"a: done", "b after a: done", "c after b after a: done"}));
  EXPECT_EQ(ledger_->unfinished(), 0u);
}

TEST_F(TaskLedgerTest, AfterARestartATaskDoesNotWaitWithoutEndForOneThatNobodySends) {
  ledger_ = make_ledger(JournalMode::off, {{ann}, at(5s)});
  joins(ann);
  ledger_->engine_holds(ann, {}, false, at({}));
  ask("b after a");
  ledger_->on_time(at(29s));
  EXPECT_EQ(answers_, Texts{});
  EXPECT_EQ(ledger_->next_deadline(at(29s)), at(30s));
  ledger_->on_time(at(30s));
  EXPECT_EQ(answers_, Texts{"b after a: InvalidDependency"});
}

/// The earlier one gave it to an engine, so the task on which it depends had ended; it may have
/// died before it wrote that down.
TEST_F(TaskLedgerTest, AfterARestartATaskThatWasLostOnItsWayToAnEngineDependsOnNothing) {
  Journal journal{storage_, JournalOptions{}};
  journal.submitted(MessageId{"b after a"},
                    *frames({"client", "delimiter", "signature of b", "b after a"}));
  ASSERT_TRUE(journal.commit());
  journal.assigned(MessageId{"b after a"}, ann);
  ASSERT_TRUE(journal.commit());
  ledger_ = make_ledger(JournalMode::process, {{ann}, at(5s)});
  ledger_->restore(at({}));
  joins(ann);
  ledger_->engine_holds(ann, {}, false, at({}));
  EXPECT_EQ(assigned_, Texts{"b after a to ann"});
  EXPECT_EQ(answers_, Texts{});
}

TEST_F(TaskLedgerTest, AFirstControllerWaitsForWhatABrokenConnectionHasLost) {
  joins(ann);
  ask("b after a");
  ask("c after b after a");
  EXPECT_EQ(ledger_->next_deadline(at({})), at(3s));
  ask("a");
  for (const std::string id : {"a", "b after a", "c after b after a"}) reply(ann, id);
  EXPECT_EQ(answers_, (Texts{"a: done", "b after a: done", "c after b after a: done"}));
}

TEST_F(TaskLedgerTest, AnswersARepeatedRequestAgainAndRunsItOnce) {
  joins(ann);
  ask("one");
  ask("one");
  reply(ann, "one");
  ask("one");
  EXPECT_EQ(assigned_.size(), 1u);
  EXPECT_EQ(answers_, (Texts{"one: done", "one: done"}));
}

TEST_F(TaskLedgerTest, AnswersAQuestionForTheAnswerToAnEarlierRequest) {
  joins(ann);
  ask_for_answer("lost");
  EXPECT_EQ(answers_, Texts{"lost: ConnectionLost"});
  ask("one");
  ask_for_answer("one");
  EXPECT_EQ(answers_.size(), 1u);  // it runs
  reply(ann, "one");
  answers_.clear();
  ask_for_answer("one");
  EXPECT_EQ(answers_, Texts{});  // that question came before
}

TEST_F(TaskLedgerTest, AcceptsATaskWhenTheDiskHasIt) {
  ledger_ = make_ledger(JournalMode::power);
  joins(ann);
  ask("one");
  EXPECT_EQ(accepted_, 0);
  EXPECT_EQ(assigned_, Texts{});
  EXPECT_EQ(ledger_->unfinished(), 1u);
  disk_has_all();
  EXPECT_EQ(accepted_, 1);
  EXPECT_EQ(assigned_, Texts{"one to ann"});
}

TEST_F(TaskLedgerTest, AnswersWhenTheDiskHasTheAnswer) {
  ledger_ = make_ledger(JournalMode::power);
  joins(ann);
  ask("one");
  disk_has_all();
  reply(ann, "one");
  EXPECT_EQ(answers_, Texts{});
  disk_has_all();
  EXPECT_EQ(answers_, Texts{"one: done"});
}

TEST_F(TaskLedgerTest, RefusesWhatAFailedDiskDoesNotHave) {
  ledger_ = make_ledger(JournalMode::power);
  joins(ann);
  ask("one");
  disk_->fail();
  ledger_->on_journal(at({}));
  EXPECT_EQ(assigned_, Texts{});
  EXPECT_EQ(answers_, Texts{"one: Overloaded"});
}

TEST_F(TaskLedgerTest, RefusesWhatAFullDiskDoesNotTake) {
  ledger_ = make_ledger(JournalMode::process);
  joins(ann);
  storage_->set_full(true);
  ask("one");
  EXPECT_EQ(answers_, Texts{"one: Overloaded"});
  storage_->set_full(false);
  ask("two");
  EXPECT_EQ(assigned_, Texts{"two to ann"});
}

TEST_F(TaskLedgerTest, GoesOnWithWhatAnEarlierOneHasLeft) {
  ledger_ = make_ledger(JournalMode::process);
  joins(ann);
  for (const char* id : {"one", "two", "three"}) ask(id);
  reply(ann, "one");
  ledger_->on_time(at({}));
  ledger_ = make_ledger(JournalMode::process, {{ann}, at(5s)});
  assigned_.clear();
  answers_.clear();
  ledger_->restore(at({}));
  EXPECT_EQ(ledger_->unfinished(), 2u);
  EXPECT_EQ(assigned_, Texts{});
  EXPECT_EQ(ledger_->next_deadline(at({})), at(5s));
  ask("one");
  EXPECT_EQ(answers_, Texts{"one: done"});
  joins(ann);
  ledger_->engine_holds(ann, {{"two"}, {"two"}}, false, at(1s));
  EXPECT_EQ(assigned_, Texts{"two to ann"});
  reply(ann, "two");
  reply(ann, "three");
  EXPECT_EQ(answers_, (Texts{"one: done", "two: done", "three: done"}));
}

TEST_F(TaskLedgerTest, DropsWhatWasChangedOnTheDisk) {
  Journal journal{storage_, JournalOptions{}};
  journal.submitted(MessageId{"one"}, *frames({"client", "delimiter", "changed", "one"}));
  ASSERT_TRUE(journal.commit());
  ledger_ = make_ledger(JournalMode::process);
  ledger_->restore(at({}));
  EXPECT_EQ(ledger_->unfinished(), 0u);
}

TEST_F(TaskLedgerTest, KeepsAReplyToATaskOfAnEarlierControllerUntilItIsAskedFor) {
  ledger_ = make_ledger(JournalMode::off, {{ann}, at(5s)});
  reply(bob, "one");
  reply(bob, "two");
  ask("one");
  ledger_->on_time(at(1s));
  EXPECT_EQ(answers_, Texts{});
  joins(ann);
  ledger_->engine_holds(ann, {}, false, at(1s));
  EXPECT_EQ(answers_, Texts{"one: done"});
  ledger_->on_time(at(2s));  // whoever waits for it has its connections again
  EXPECT_EQ(answers_, (Texts{"one: done", "two: done"}));
}

TEST_F(TaskLedgerTest, LetsTasksWaitBehindAFullQueue) {
  ledger_ = make_ledger(JournalMode::off, {}, 2);
  for (const char* id : {"one", "two", "three"}) ask(id);
  EXPECT_EQ(ledger_->in_backlog(), 1u);
  EXPECT_EQ(ledger_->unfinished(), 3u);
  joins(ann);
  reply(ann, "one");
  ledger_->on_time(at({}));
  EXPECT_EQ(ledger_->in_backlog(), 0u);
  reply(ann, "two");
  reply(ann, "three");
  EXPECT_EQ(answers_, (Texts{"one: done", "two: done", "three: done"}));
}

TEST_F(TaskLedgerTest, FailsATaskWhoseEngineIsGone) {
  joins(ann);
  ask("one");
  ledger_->engine_left(ann, {.engine = "ann", .why = "it died", .is_dead = true}, at({}));
  const auto due = ledger_->next_deadline(at({}));
  ASSERT_TRUE(due);
  ledger_->on_time(*due);
  EXPECT_EQ(answers_, Texts{"one: EngineError"});
}

TEST_F(TaskLedgerTest, RecordsTheFirstRankOfATaskAndStopsOthersAfterAFailure) {
  for (const EngineUuid& engine : {ann, bob}) {
    ledger_->engine_placed(engine, {"w", engine == ann ? 0 : 1, "h"});
    joins(engine);
  }
  ask("a gang");
  EXPECT_EQ(assigned_, (Texts{"a gang to ann", "a gang to bob"}));
  ledger_->replied(
      {frames({"bob", "client", "a gang", "wrong"}), MessageId{"a gang"}, TaskOutcome::failed},
      at({}));
  ledger_->on_time(at(3s));
  EXPECT_EQ(interrupted_, Texts{"a gang on ann"});
  reply(ann, "a gang");
  EXPECT_EQ(answers_, Texts{"a gang: wrong"});
}

/// A ledger behind one that has given the task to ann and bob; the answers and orders are those of
/// the later one.
class GangAfterRestartTest : public TaskLedgerTest {
 protected:
  void restart_during(const std::string& id) {
    ledger_ = make_ledger(JournalMode::process);
    for (const EngineUuid& engine : {ann, bob}) placed(engine);
    ask(id);
    ledger_->on_time(at({}));
    ASSERT_EQ(assigned_, (Texts{id + " to ann", id + " to bob"}));
    ledger_ = make_ledger(JournalMode::process, {{ann, bob}, at(5s)});
    assigned_.clear();
    ledger_->restore(at({}));
  }
  void placed(const EngineUuid& engine) {
    ledger_->engine_placed(engine, {"w", engine == ann ? 0 : engine == bob ? 1 : 2, "h"});
    joins(engine);
  }
  static HeldGang rank_of(const std::string& id) { return {id, 0, {{ann, bob}, {7, {0, 1}}}}; }
  void returns(const EngineUuid& engine, const HeldTasks& held, Duration when = 1s) {
    placed(engine);
    ledger_->engine_holds(engine, held, false, at(when));
  }
  static HeldTasks running(const std::string& id) { return {{id}, {id}, {rank_of(id)}}; }
};

TEST_F(GangAfterRestartTest, ItGoesOnWhereEnginesRunIt) {
  restart_during("a gang");
  returns(ann, running("a gang"));
  EXPECT_EQ(assigned_, Texts{});
  returns(bob, running("a gang"));
  EXPECT_EQ(assigned_, (Texts{"a gang to ann", "a gang to bob"}));
  EXPECT_EQ(seats_->communicator, (GangCommunicator{7, {0, 1}}));
  reply(bob, "a gang", "of bob");
  EXPECT_EQ(answers_, Texts{});
  reply(ann, "a gang", "of ann");
  EXPECT_EQ(answers_, Texts{"a gang: of ann"});
  EXPECT_EQ(interrupted_, Texts{});
}

TEST_F(GangAfterRestartTest, AnEngineThatNeverGotItsRankBeginsIt) {
  restart_during("a gang");
  ask("later gang");
  returns(ann, {});
  returns(bob, running("a gang"));
  EXPECT_EQ(assigned_, (Texts{"a gang to ann", "a gang to bob"}));
}

TEST_F(GangAfterRestartTest, AnEngineThatWasGivenOtherTasksInsteadIsLost) {
  restart_during("a gang");
  returns(ann, {{"other"}, {"other"}});  // it may wait for bob, who has it behind this task
  returns(bob, running("a gang"));
  EXPECT_EQ(assigned_, Texts{"a gang to bob"});
  reply(bob, "a gang", "stopped");
  EXPECT_EQ(answers_, Texts{"a gang: EngineError"});
}

TEST_F(GangAfterRestartTest, ItBeginsAnewIfNoEngineHasItAndItMayRunAgain) {
  restart_during("repeatable gang");
  returns(ann, {});
  returns(bob, {});
  EXPECT_EQ(assigned_, (Texts{"repeatable gang to ann", "repeatable gang to bob"}));
  EXPECT_EQ(answers_, Texts{});
}

TEST_F(GangAfterRestartTest, ItIsGivenUpIfNoEngineHasItAndItMustNotRunAgain) {
  restart_during("a gang");
  returns(ann, {});
  returns(bob, {});  // a third engine may have begun a rank, and be lost
  EXPECT_EQ(assigned_, Texts{});
  EXPECT_EQ(answers_, Texts{"a gang: EngineError"});
}

TEST_F(GangAfterRestartTest, ItsOtherRanksAreStoppedIfAnEngineDoesNotComeBack) {
  restart_during("a gang");
  returns(ann, running("a gang"));
  ledger_->on_time(at(5s));
  EXPECT_EQ(interrupted_, Texts{});
  ledger_->on_time(at(8s));
  EXPECT_EQ(interrupted_, Texts{"a gang on ann"});
  reply(ann, "a gang", "stopped");
  EXPECT_EQ(answers_, Texts{"a gang: EngineError"});
}

TEST_F(GangAfterRestartTest, ItIsTriedAgainIfAnEngineDoesNotComeBackInTime) {
  restart_during("repeatable gang");
  const EngineUuid cy{"cy"};
  placed(cy);
  returns(ann, running("repeatable gang"));
  ledger_->on_time(at(5s));
  EXPECT_EQ(assigned_, Texts{"repeatable gang to ann"});
  reply(ann, "repeatable gang", "without bob");
  EXPECT_EQ(answers_, Texts{});
  EXPECT_EQ(assigned_,
            (Texts{"repeatable gang to ann", "repeatable gang to ann", "repeatable gang to cy"}));
  EXPECT_EQ(repetition_, 1);
  ledger_->engine_holds(bob, running("repeatable gang"), false, at(6s));  // the earlier attempt
  EXPECT_EQ(interrupted_, Texts{"repeatable gang on bob"});
}

TEST_F(GangAfterRestartTest, ARankIsStoppedIfItsTaskHasEndedWithoutIt) {
  restart_during("a gang");
  returns(ann, running("a gang"));
  ledger_->on_time(at(5s));
  reply(ann, "a gang", "without bob");
  EXPECT_EQ(answers_, Texts{"a gang: EngineError"});
  returns(bob, running("a gang"), 9s);
  EXPECT_EQ(interrupted_, Texts{"a gang on bob"});
}

TEST_F(GangAfterRestartTest, AReplyThatCameBeforeTheTaskWasKnownCounts) {
  restart_during("a gang");
  reply(bob, "a gang", "of bob");
  returns(ann, running("a gang"));
  returns(bob, {{"a gang"}, {}, {rank_of("a gang")}});
  reply(ann, "a gang", "of ann");
  EXPECT_EQ(answers_, Texts{"a gang: of ann"});
}

TEST_F(GangAfterRestartTest, RanksAreStoppedIfNoClientAsksForTheirTask) {
  ledger_ = make_ledger(JournalMode::off, {{ann, bob}, at(5s)});
  returns(ann, running("a gang"));
  returns(bob, {{"a gang"}, {}, {rank_of("a gang")}});
  EXPECT_EQ(ledger_->next_deadline(at(2s)), at(30s));
  ledger_->on_time(at(29s));
  EXPECT_EQ(interrupted_, Texts{});
  ledger_->on_time(at(30s));
  EXPECT_EQ(interrupted_, Texts{"a gang on ann for ever"});
  ledger_->on_time(at(40s));
  EXPECT_EQ(interrupted_.size(), 1u);
}

TEST_F(GangAfterRestartTest, ItIsGivenUpIfEnginesDoNotSayWhichAttemptTheyHold) {
  restart_during("a gang");
  ask("later gang");
  returns(ann, {{"a gang"}, {"a gang"}});
  returns(bob, {{"a gang"}, {"a gang"}});
  EXPECT_EQ(answers_, Texts{"a gang: EngineError"});
  EXPECT_EQ(interrupted_, (Texts{"a gang on ann", "a gang on bob"}));
  EXPECT_EQ(assigned_, (Texts{"later gang to ann", "later gang to bob"}));
  answers_.clear();
  reply(ann, "a gang");  // too late
  EXPECT_EQ(answers_, Texts{});
}

}  // namespace
}  // namespace px::controller
