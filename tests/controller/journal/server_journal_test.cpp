#include "tests/controller/journal/memory_storage.hpp"
#include "tests/controller/server_fixture.hpp"

namespace px::controller {
namespace {

Draft call(const std::string& engine) {
  return {{engine}, "apply_request", "{}", Json::object(), Json::object(), {"function"}};
}

/// For engines with the ids 0, 1, ...
Draft broadcast(const std::vector<std::string>& engines, bool is_coalescing) {
  Json targets = Json::array();
  for (std::size_t i = 0; i < engines.size(); ++i) targets.push_back({engines[i], i});
  const Json metadata{{"targets", targets}, {"is_coalescing", is_coalescing}};
  return {{}, "apply_request", "{}", metadata, Json::object(), {"function"}};
}

Draft apply(Json metadata = Json::object()) {
  return {{}, "apply_request", "{}", std::move(metadata), Json::object(), {"function"}};
}

/// A controller with a journal, and another one in its place.
class JournalServerTest : public ServerTest {
 protected:
  explicit JournalServerTest(JournalMode mode = JournalMode::process) {
    options_.journal_storage = storage_;
    options_.call_storage = call_storage_;
    options_.journal.mode = mode;
    options_.is_successor = options_.has_successor = true;
  }
  /// Returns when all that was sent before is accepted or refused: a task that can never run is
  /// answered at once.
  static void wait_for_acceptance(FakeClient& user) {
    user.send(user.task, apply({{"targets", {"no such engine"}}}));
    EXPECT_EQ(receive(user.task).content["ename"], "ImpossibleDependency");
  }
  /// The engine gets these tasks one after the other, and the user their results.
  static void expect_run_in_order(const std::vector<std::string>& tasks, FakeEngine& engine,
                                  FakeClient& user) {
    for (const std::string& msg_id : tasks) {
      const Received request = receive(engine.task);
      EXPECT_EQ(request.header.msg_id.text, msg_id);
      EXPECT_EQ(request.buffers, std::vector<std::string>{"function"});
      engine.reply(engine.task, request);
      EXPECT_EQ(receive(user.task).parent["msg_id"], msg_id);
    }
  }
  const std::shared_ptr<MemoryStorage> storage_ = std::make_shared<MemoryStorage>();
  const std::shared_ptr<MemoryStorage> call_storage_ = std::make_shared<MemoryStorage>();
  ServerOptions options_;
};

class PowerJournalServerTest : public JournalServerTest {
 protected:
  PowerJournalServerTest() : JournalServerTest(JournalMode::power) {}
};

TEST_F(JournalServerTest, TasksThatWaitedAreRunByTheNextControllerInTheirOrder) {
  start(options_);
  std::vector<std::string> sent;
  {
    auto user = client();
    for (int i = 0; i < 3; ++i) sent.push_back(user->send(user->task, apply()));
    wait_for_acceptance(*user);
  }
  stop();
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  expect_run_in_order(sent, *ann, *user);
}

TEST_F(JournalServerTest, TasksThatWaitBehindAFullQueueAreRunInTheirOrder) {
  options_.backlog.tasks = 2;
  options_.backlog_folder = std::filesystem::temp_directory_path();
  start(options_);
  auto user = client();
  std::vector<std::string> sent;
  for (int i = 0; i < 6; ++i) sent.push_back(user->send(user->task, apply()));
  auto ann = engine("ann");
  ann->join();
  for (int i = 0; i < 3; ++i) sent.push_back(user->send(user->task, apply()));
  expect_run_in_order(sent, *ann, *user);
}

TEST_F(JournalServerTest, TheNextControllerGoesOnWithThoseThatWaitedBehindAFullQueue) {
  options_.backlog.tasks = 2;
  options_.backlog_folder = std::filesystem::temp_directory_path();
  start(options_);
  std::vector<std::string> sent;
  {
    auto user = client();
    for (int i = 0; i < 6; ++i) sent.push_back(user->send(user->task, apply()));
    auto ann = engine("ann");
    ann->join();
    ann->reply(ann->task, receive(ann->task));
    EXPECT_EQ(receive(user->task).parent["msg_id"], sent[0]);
    receive(ann->task);  // and it ends without an answer
    stop();
  }
  start(options_);
  auto user = client("another");
  auto bob = engine("bob");
  bob->join();
  for (std::size_t i = 2; i < sent.size(); ++i) {
    const Received request = receive(bob->task);
    EXPECT_EQ(request.header.msg_id.text, sent[i]);
    bob->reply(bob->task, request);
  }
}

TEST_F(JournalServerTest, TasksThatAreAnsweredDoNotRunAgain) {
  start(options_);
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    user->send(user->task, apply());
    ann->reply(ann->task, receive(ann->task));
    EXPECT_EQ(receive(user->task).content["status"], "ok");
  }
  stop();
  start(options_);
  auto user = client("another");
  auto bob = engine("bob");
  bob->join();
  const std::string other = user->send(user->task, apply());
  EXPECT_EQ(receive(bob->task).header.msg_id.text, other);
}

TEST_F(JournalServerTest, TasksMayDependOnThoseThatEndedUnderAnEarlierController) {
  start(options_);
  std::string first;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    first = user->send(user->task, apply());
    ann->reply(ann->task, receive(ann->task));
    EXPECT_EQ(receive(user->task).content["status"], "ok");
  }
  stop();
  start(options_);
  auto user = client("another");
  auto bob = engine("bob");
  bob->join();
  const std::string second = user->send(user->task, apply({{"after", {first}}}));
  EXPECT_EQ(receive(bob->task).header.msg_id.text, second);
}

TEST_F(JournalServerTest, ATaskWhoseEngineDidNotComeBackFailsUnlessItHasRetries) {
  start(options_);
  std::string kept;
  {
    auto user = client();
    auto ann = engine("ann");
    auto bob = engine("bob");
    ann->join();
    bob->join();
    user->send(user->task, apply({{"targets", {"ann"}}}));
    kept = user->send(user->task, apply({{"retries", 1}}));
    receive(ann->task);
    receive(bob->task);
    wait_for_acceptance(*user);
  }
  stop();
  start(options_);
  auto user = client();
  auto eve = engine("eve");
  eve->join();
  EXPECT_EQ(receive(eve->task).header.msg_id.text, kept);
  // What was answered before the client had come back is in the records.
}

TEST_F(JournalServerTest, AnEngineIsAskedAgainForTheDirectCallsThatItOwes) {
  start(options_);
  std::vector<std::string> owed;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    user->send(user->mux, call("ann"));
    ann->reply(ann->mux, receive(ann->mux));
    EXPECT_EQ(receive(user->mux).content["status"], "ok");
    for (int i = 0; i < 2; ++i) owed.push_back(user->send(user->mux, call("ann")));
    for (const std::string& msg_id : owed) EXPECT_EQ(receive(ann->mux).header.msg_id.text, msg_id);
  }
  stop();
  start(options_);
  auto ann = engine("ann");
  ann->join();
  for (const std::string& msg_id : owed) {
    const Received request = receive(ann->mux);
    EXPECT_EQ(request.header.msg_id.text, msg_id);
    EXPECT_EQ(request.buffers, std::vector<std::string>{"function"});
  }
}

TEST_F(JournalServerTest, RepliesWaitForAClientThatComesBackAfterTheEngine) {
  start(options_);
  std::string direct, balanced, both;
  Received call_of_ann, task_of_ann, copy_of_ann;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    direct = user->send(user->mux, call("ann"));
    balanced = user->send(user->task, apply());
    both = user->send(user->broadcast, broadcast({"ann"}, false));
    call_of_ann = receive(ann->mux);
    task_of_ann = receive(ann->task);
    copy_of_ann = receive(ann->broadcast);
  }
  stop();
  start(options_);
  auto ann = engine("ann");
  ann->join();
  ann->reply(ann->mux, call_of_ann);
  ann->reply(ann->task, task_of_ann);
  ann->reply(ann->broadcast, copy_of_ann);
  auto other = client("other");  // when it is answered the replies have been passed on
  other->send(other->mux, call("ann"));
  Received asked = receive(ann->mux);
  while (asked.header.msg_id.text == direct) asked = receive(ann->mux);  // once more
  ann->reply(ann->mux, asked);
  EXPECT_EQ(receive(other->mux).content["status"], "ok");
  auto user = client();
  EXPECT_EQ(receive(user->mux).parent["msg_id"], direct);
  EXPECT_EQ(receive(user->task).parent["msg_id"], balanced);
  EXPECT_EQ(receive(user->broadcast).parent["msg_id"], both + "_ann");
}

TEST_F(JournalServerTest, AnEngineIsAskedAgainForTheBroadcastsThatItOwes) {
  start(options_);
  std::string owed;
  {
    auto user = client();
    auto ann = engine("ann"), bob = engine("bob");
    ann->join();
    bob->join();
    owed = user->send(user->broadcast, broadcast({"ann", "bob"}, false));
    EXPECT_EQ(receive(ann->broadcast).header.msg_id.text, owed + "_ann");
    bob->reply(bob->broadcast, receive(bob->broadcast));
    EXPECT_EQ(receive(user->broadcast).parent["msg_id"], owed + "_bob");
  }
  stop();
  start(options_);
  auto user = client();
  auto ann = engine("ann"), bob = engine("bob");
  bob->join();
  ann->join();
  const Received request = receive(ann->broadcast);
  EXPECT_EQ(request.header.msg_id.text, owed + "_ann");
  EXPECT_EQ(request.buffers, std::vector<std::string>{"function"});
  const std::string further = user->send(user->broadcast, broadcast({"bob"}, false));
  EXPECT_EQ(receive(bob->broadcast).header.msg_id.text, further + "_bob");  // which owed nothing
  ann->reply(ann->broadcast, request);
  EXPECT_EQ(receive(user->broadcast).parent["msg_id"], owed + "_ann");
}

TEST_F(JournalServerTest, AGatheredBroadcastEndsUnderTheNextController) {
  start(options_);
  const auto metadata = [](const Received& request) {
    return Json{{"is_coalescing", true},
                {"original_msg_id", request.metadata["original_msg_id"]}};
  };
  {
    auto user = client();
    auto ann = engine("ann"), bob = engine("bob");
    ann->join();
    bob->join();
    user->send(user->broadcast, broadcast({"ann", "bob"}, true));
    const Received request = receive(bob->broadcast);
    bob->reply(bob->broadcast, request, "ok", metadata(request));
    // What comes behind it on the same connection says that it is written.
    user->send(user->broadcast, broadcast({"bob"}, false));
    bob->reply(bob->broadcast, receive(bob->broadcast));
    EXPECT_EQ(receive(user->broadcast).content["status"], "ok");
  }
  stop();
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const Received request = receive(ann->broadcast);
  user->send(user->broadcast, broadcast({"ann"}, false));
  receive(ann->broadcast);  // so its connection stands
  ann->reply(ann->broadcast, request, "ok", metadata(request));
  EXPECT_EQ(receive(user->broadcast).buffers,
            (std::vector<std::string>{"result of ann", "result of bob"}));
}

TEST_F(JournalServerTest, AGatheredBroadcastEndsThoughOneOfItsEnginesHasLeft) {
  options_.membership.registration_timeout = std::chrono::milliseconds(50);
  for (const bool has_journal : {true, false}) {
    if (!has_journal) options_.call_storage = nullptr;
    start(options_);
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    const std::string msg_id = user->send(user->broadcast, broadcast({"ann", "gone"}, true));
    receive(ann->broadcast);
    const Received answer = receive(user->broadcast);
    EXPECT_EQ(answer.parent["msg_id"], msg_id + "_gone");
    EXPECT_EQ(answer.content["ename"], "EngineError");
    stop();
  }
}

TEST_F(JournalServerTest, AFullDiskDoesNotStopDirectCalls) {
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  call_storage_->set_full(true);
  user->send(user->mux, call("ann"));
  ann->reply(ann->mux, receive(ann->mux));
  EXPECT_EQ(receive(user->mux).content["status"], "ok");
}

TEST_F(JournalServerTest, AFullDiskIsAnErrorOfTheTaskInOneSentence) {
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  storage_->set_full(true);
  user->send(user->task, apply());
  const Received refused = receive(user->task);
  EXPECT_EQ(refused.content["ename"], "Overloaded");
  EXPECT_EQ(refused.content["evalue"],
            "the journal of tasks cannot be written (No space left on device): make room there and "
            "call again, or start the controller with --journal=off");
  storage_->set_full(false);
  const std::string later = user->send(user->task, apply());
  EXPECT_EQ(receive(ann->task).header.msg_id.text, later);
}

TEST_F(PowerJournalServerTest, WhatAnEngineGotOutlivesALossOfPower) {
  start(options_);
  std::string msg_id;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    msg_id = user->send(user->task, apply({{"retries", 1}}));
    receive(ann->task);
    storage_->lose_power();
  }
  stop();
  storage_->lose_power();
  start(options_);
  auto user = client();
  auto bob = engine("bob");
  bob->join();
  const Received request = receive(bob->task);
  EXPECT_EQ(request.header.msg_id.text, msg_id);
  bob->reply(bob->task, request);
  EXPECT_EQ(receive(user->task).parent["msg_id"], msg_id);
}

TEST_F(PowerJournalServerTest, ADirectCallThatAnEngineGotOutlivesALossOfPower) {
  start(options_);
  std::string msg_id;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    msg_id = user->send(user->mux, call("ann"));
    receive(ann->mux);
    call_storage_->lose_power();
  }
  stop();
  call_storage_->lose_power();
  start(options_);
  auto ann = engine("ann");
  ann->join();
  EXPECT_EQ(receive(ann->mux).header.msg_id.text, msg_id);
}

TEST_F(PowerJournalServerTest, ABroadcastThatAnEngineGotOutlivesALossOfPower) {
  start(options_);
  std::string msg_id;
  {
    auto user = client();
    auto ann = engine("ann");
    ann->join();
    msg_id = user->send(user->broadcast, broadcast({"ann"}, false));
    receive(ann->broadcast);
    call_storage_->lose_power();
  }
  stop();
  call_storage_->lose_power();
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const Received request = receive(ann->broadcast);
  user->send(user->broadcast, broadcast({"ann"}, false));
  receive(ann->broadcast);  // so its connection stands
  ann->reply(ann->broadcast, request);
  EXPECT_EQ(receive(user->broadcast).parent["msg_id"], msg_id + "_ann");
}

TEST_F(PowerJournalServerTest, AReplyReachesItsClientWhenItIsOnTheDisk) {
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  const std::string msg_id = user->send(user->mux, call("ann"));
  ann->reply(ann->mux, receive(ann->mux));
  EXPECT_EQ(receive(user->mux).parent["msg_id"], msg_id);
}

TEST_F(PowerJournalServerTest, ADiskThatFailsEndsTheAcceptanceOfTasks) {
  start(options_);
  auto user = client();
  auto ann = engine("ann");
  ann->join();
  storage_->fail_to_sync();
  user->send(user->task, apply());
  EXPECT_EQ(receive(user->task).content["ename"], "Overloaded");
}

}  // namespace
}  // namespace px::controller
