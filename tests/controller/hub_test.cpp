#include "controller/hub/hub.hpp"
#include "controller/hub/task_store.hpp"
#include "tests/controller/hub_fixture.hpp"

namespace px::controller {
namespace {

TEST_F(HubTest, ADirectRequestIsQueuedThenCompleted) {
  join(0, "engine a");
  submit_direct("one", "engine a");
  EXPECT_EQ(queues(), Json({{"status", "ok"},
                            {"0", {{"queue", 1}, {"completed", 0}, {"tasks", 0}}},
                            {"unassigned", 0}}));
  finish_direct("one", "engine a");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 1}, {"tasks", 0}}));
}

TEST_F(HubTest, ATaskIsUnassignedThenWithAnEngineThenCompleted) {
  join(0, "engine a");
  submit_task("one");
  EXPECT_EQ(queues()["unassigned"], 1);
  assign("one", "engine a");
  EXPECT_EQ(queues()["unassigned"], 0);
  EXPECT_EQ(queues()["0"]["tasks"], 1);
  finish_task("one", "engine a");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 1}, {"tasks", 0}}));
}

TEST_F(HubTest, ARetriedTaskIsCountedWhereItIsNow) {
  join(0, "engine a");
  join(1, "engine b");
  submit_task("one");
  assign("one", "engine a");
  assign("one", "engine b");
  EXPECT_EQ(queues()["0"]["tasks"], 0);
  EXPECT_EQ(queues()["1"]["tasks"], 1);
  finish_task("one", "engine b");
  EXPECT_EQ(queues()["1"]["tasks"], 0);
  EXPECT_EQ(record("one")["engine_uuid"], "engine b");
}

TEST_F(HubTest, AnAbortedTaskIsNotCompleted) {
  join(0, "engine a");
  submit_task("one");
  assign("one", "engine a");
  RequestParts aborted = result();
  aborted.metadata = {{"status", "aborted"}};
  finish_task("one", "engine a", aborted);
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 0}, {"tasks", 0}}));
  EXPECT_EQ(
      ask("result_request", {{"msg_ids", {"one"}}, {"status_only", true}}).content["completed"],
      Json({"one"}));
}

TEST_F(HubTest, AFailureOfTheSchedulerHasNoEngine) {
  submit_task("one");
  RequestParts failure = result();
  failure.buffers = {};
  finish_task("one", "", failure);
  EXPECT_EQ(queues()["unassigned"], 0);
  EXPECT_EQ(record("one")["engine_uuid"], "");
}

TEST_F(HubTest, TheSchedulersAnswerForADeadEngineNamesIt) {
  join(0, "engine a");
  submit_task("one");
  assign("one", "engine a");
  RequestParts failure = result();
  failure.metadata = {{"status", "error"}, {"engine", "engine a"}};
  finish_task("one", "", failure);
  EXPECT_EQ(record("one")["engine_uuid"], "engine a");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 1}, {"tasks", 0}}));
}

TEST_F(HubTest, ARecordHasAllKeys) {
  join(3, "engine a");
  submit_direct("one", "engine a", {.metadata = {{"label", "mine"}}});
  finish_direct("one", "engine a");
  const Json one = record("one");
  EXPECT_EQ(one.size(), record_keys().size() - 2);  // all but the buffers
  EXPECT_EQ(one["header"]["msg_id"], "one");
  EXPECT_EQ(one["metadata"], Json({{"label", "mine"}}));
  EXPECT_EQ(one["submitted"], "2026-11-21T08:00:00.500000Z");
  EXPECT_EQ(one["client_uuid"], "client one");
  EXPECT_EQ(one["engine_uuid"], "engine a");
  EXPECT_EQ(one["started"], "2026-11-21T08:00:01Z");
  EXPECT_EQ(one["completed"], "2026-11-21T08:00:02.500000Z");
  EXPECT_EQ(one["received"], "2026-11-21T08:00:03Z");
  EXPECT_EQ(one["result_header"]["msg_type"], "apply_reply");
  EXPECT_EQ(one["result_content"], Json({{"status", "ok"}}));
  EXPECT_EQ(one["queue"], "mux");
  EXPECT_EQ(one["label"], "mine");
  EXPECT_EQ(one["stdout"], "");
  EXPECT_EQ(one["execute_result"], nullptr);
  EXPECT_EQ(one["resubmitted"], nullptr);
}

TEST_F(HubTest, MsgpackRecordsReadTheSame) {
  make_hub(std::make_unique<MemoryStore>(), {}, Packer::msgpack);
  join(0, "engine a");
  submit_direct("one", "engine a", {.metadata = {{"label", "mine"}}});
  publish("execute_result", "one", {{"data", {{"text/plain", "42"}}}});
  finish_direct("one", "engine a");
  const Json one = record("one");
  EXPECT_EQ(one["label"], "mine");
  EXPECT_EQ(one["completed"], "2026-11-21T08:00:02.500000Z");
  EXPECT_EQ(one["execute_result"]["data"]["text/plain"], "42");
  EXPECT_EQ(one["result_metadata"]["status"], "ok");
}

// ---------------------------------------------------------------- dates

TEST_F(HubTest, AMissingDateIsTheTimeOfArrivalAndABadOneIsNone) {
  join(0, "engine a");
  submit_direct("undated", "engine a", {.date = ""});
  submit_direct("precise", "engine a", {.date = "2026-11-21T08:00:00.1234567Z"});
  EXPECT_EQ(record("undated")["submitted"], "2026-11-21T08:00:03Z");
  EXPECT_EQ(record("precise")["submitted"], nullptr);
  RequestParts late = result();
  late.date = "";
  finish_direct("precise", "engine a", late);
  EXPECT_EQ(record("precise")["completed"], "2026-11-21T08:00:03Z");
}

// ---------------------------------------------------------------- engines that leave

TEST_F(HubTest, RecordsOfADeadEngineNameItsHostAndTheReason) {
  join(0, "engine a");
  submit_direct("one", "engine a", {});
  tell(EngineLeft{EngineUuid{"engine a"}, {"0 on host2", "its process ended"}});
  hub_->on_time(wall_, at(30s));
  EXPECT_EQ(record("one")["result_content"]["evalue"],
            "Engine 0 on host2 died while running task 'one': its process ended");
}

TEST_F(HubTest, RequestsOfADeadEngineAreGivenUpAfterTheTimeout) {
  join(0, "engine a");
  submit_direct("one", "engine a", {.msg_type = "execute_request"});
  leave("engine a");
  EXPECT_EQ(hub_->next_deadline(), at(30s));
  hub_->on_time(wall_, at(29s));
  EXPECT_EQ(record("one")["result_content"], nullptr);
  hub_->on_time(wall_, at(30s));
  EXPECT_EQ(hub_->next_deadline(), std::nullopt);
  const Json one = record("one");
  EXPECT_EQ(one["result_content"]["ename"], "EngineError");
  EXPECT_EQ(one["result_content"]["evalue"], "Engine 0 died while running task 'one'");
  EXPECT_EQ(one["result_metadata"], Json::object());
  EXPECT_EQ(one["result_header"]["msg_type"], "execute_reply");
  EXPECT_EQ(one["result_header"]["engine"], "engine a");
  EXPECT_TRUE(one["result_header"]["msg_id"].is_string());
  EXPECT_EQ(one["completed"], "2026-11-21T08:00:03Z");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 0}, {"tasks", 0}}));
}

TEST_F(HubTest, RequestsOfOurOwnThatAreGivenUpGetAReplyOfTheirType) {
  join(0, "engine a");
  submit_direct("one", "engine a", {.msg_type = "call_request"});
  leave("engine a");
  hub_->on_time(wall_, at(30s));
  EXPECT_EQ(record("one")["result_header"]["msg_type"], "call_reply");
}

TEST_F(HubTest, AReplyAfterTheTimeoutStillReplacesTheError) {
  join(0, "engine a");
  submit_direct("one", "engine a");
  leave("engine a");
  hub_->on_time(wall_, at(30s));
  finish_direct("one", "engine a");
  EXPECT_EQ(record("one")["result_content"], Json({{"status", "ok"}}));
}

TEST_F(HubTest, DeadEnginesStayListedAndAnIdGrantedAgainStartsEmpty) {
  join(0, "engine a");
  join(1, "engine b");
  submit_direct("one", "engine a");
  finish_direct("one", "engine a");
  leave("engine a");
  EXPECT_EQ(queues()["0"]["completed"], 1);
  join(0, "engine c");
  EXPECT_EQ(queues()["0"]["completed"], 0);
  EXPECT_TRUE(queues().contains("1"));
}

TEST_F(HubTest, AnEngineAnnouncedTwiceKeepsItsCounts) {
  join(0, "engine a");
  submit_direct("one", "engine a");
  join(0, "engine a");
  EXPECT_EQ(queues()["0"]["queue"], 1);
}

// ---------------------------------------------------------------- output

TEST_F(HubTest, OutputGathersInTheRecordOfItsRequest) {
  join(0, "engine a");
  submit_direct("one", "engine a");
  publish("execute_input", "one", {{"code", "6*7"}, {"execution_count", 1}});
  publish("stream", "one", {{"name", "stdout"}, {"text", "a"}});
  publish("stream", "one", {{"name", "stderr"}, {"text", "warned"}});
  publish("stream", "one", {{"name", "stdout"}, {"text", "b"}});
  publish("error", "one", {{"ename", "ValueError"}});
  publish("status", "one", {{"execution_state", "idle"}});
  const Json one = record("one");
  EXPECT_EQ(one["execute_input"], "6*7");
  EXPECT_EQ(one["stdout"], "ab");
  EXPECT_EQ(one["stderr"], "warned");
  EXPECT_EQ(one["error"], Json({{"ename", "ValueError"}}));
}

TEST_F(HubTest, OutputOfTheOldProtocolIsReadAsTodays) {
  const auto publish_old = [&](std::string_view msg_type, Json content) {
    const RequestParts parts{.msg_type = std::string(msg_type),
                             .content = std::move(content),
                             .buffers = {},
                             .version = "4.1"};
    tell(OutputPublished{frames({"engine.0.topic"}, request_header("output", parts),
                                Json{{"msg_id", "one"}}, parts)});
  };
  publish_old("stream", {{"name", "stdout"}, {"data", "hello"}});
  publish_old("pyin", {{"code", "6*7"}});
  EXPECT_EQ(record("one")["stdout"], "hello");
  EXPECT_EQ(record("one")["execute_input"], "6*7");
}

TEST_F(HubTest, OutputMayOvertakeItsRequest) {
  join(0, "engine a");
  publish("stream", "one", {{"name", "stdout"}, {"text", "early"}});
  EXPECT_EQ(record("one")["submitted"], nullptr);
  EXPECT_EQ(record("one")["queue"], nullptr);
  submit_direct("one", "engine a");
  EXPECT_EQ(record("one")["stdout"], "early");
  EXPECT_EQ(record("one")["queue"], "mux");
}

TEST_F(HubTest, OutputOfBroadcastsMakesARecordButNoHistory) {
  publish("stream", "one_engine a", {{"name", "stdout"}, {"text", "hi"}});
  EXPECT_EQ(record("one_engine a")["stdout"], "hi");
  EXPECT_EQ(ask("history_request", Json::object()).content["history"], Json::array());
  EXPECT_EQ(ask("db_request", {{"query", Json::object()}}).content["records"].size(), 1u);
}

TEST_F(HubTest, AWelcomeWithoutTopicAndParentIsHarmless) {
  const RequestParts parts{.msg_type = "iopub_welcome", .content = {{"subscription", ""}}};
  tell(OutputPublished{frames({}, request_header("w", parts), Json::object(), parts)});
  publish("stream", "", {{"name", "stdout"}, {"text", "of nobody"}});
  EXPECT_EQ(ask("db_request", {{"query", Json::object()}}).content["records"], Json::array());
}

TEST_F(HubTest, TheTextOfAStreamIsBounded) {
  make_hub(std::make_unique<MemoryStore>(), {.stream_text_limit = 10});
  publish("stream", "one", {{"name", "stdout"}, {"text", "123456789"}});
  publish("stream", "one", {{"name", "stdout"}, {"text", "\u00e9 and more"}});  // two bytes wide
  EXPECT_EQ(record("one")["stdout"], "123456789");
  publish("stream", "one", {{"name", "stdout"}, {"text", "xyz"}});
  publish("stream", "one", {{"name", "stdout"}, {"text", "more"}});
  EXPECT_EQ(record("one")["stdout"], "123456789x");
}

// ---------------------------------------------------------------- of an earlier controller

TEST_F(HubTest, ADirectRequestOfAnEarlierControllerMayBeAnsweredBeforeItsEngineIsRegistered) {
  const EngineUuid engine{"engine a"};
  tell(DirectRestored{MessageId{"one"}, engine, request("one", engine.text), {}, "", ""});
  EXPECT_EQ(ask("result_request", {{"msg_ids", {"one"}}}).content["pending"], Json({"one"}));
  finish_direct("one", "engine a");
  EXPECT_EQ(ask("result_request", {{"msg_ids", {"one"}}}).content["completed"], Json({"one"}));
  EXPECT_EQ(record("one")["queue"], "mux");
}

TEST_F(HubTest, ADirectRequestThatIsAwaitedMayBeAnsweredBeforeItsEngineIsRegistered) {
  const EngineUuid engine{"engine a"};
  tell(DirectSubmitted{engine, request("one", engine.text)});
  tell(DirectSubmitted{engine, request("two", engine.text), true});
  EXPECT_EQ(ask("result_request", {{"msg_ids", {"two"}}}).content["pending"], Json({"two"}));
  join(0, engine.text);
  tell(DirectSubmitted{engine, request("two", engine.text)});
  EXPECT_EQ(queues()["0"]["queue"], 1);
  finish_direct("two", engine.text);
  EXPECT_EQ(record("two")["engine_uuid"], engine.text);
  EXPECT_EQ(queues()["0"]["queue"], 0);
}

TEST_F(HubTest, AnAnswerOfAnEarlierControllersTimeIsOnRecord) {
  const EngineUuid engine{"engine a"};
  const SharedFrames answer = reply("one", engine.text, result());
  tell(DirectRestored{MessageId{"one"}, engine, request("one", engine.text), answer, "", ""});
  tell(DirectRestored{
      MessageId{"two"}, engine, request("two", engine.text), {}, "EngineError", "it died"});
  EXPECT_EQ(ask("result_request", {{"msg_ids", {"one", "two"}}}).content["completed"],
            Json({"one", "two"}));
  EXPECT_EQ(record("two")["result_content"]["evalue"], "it died");
}

TEST_F(HubTest, AnAnswerOfAnEarlierControllersTimeOutlivesAnEngineThatIsAskedForItAgain) {
  const EngineUuid engine{"engine a"};
  const SharedFrames asked = request("one", engine.text);
  tell(DirectRestored{
      MessageId{"one"}, engine, asked, reply("one", engine.text, result()), "", ""});
  const Json answer = record("one")["result_content"];
  join(0, engine.text);
  tell(DirectSubmitted{engine, asked});  // the answer was lost on its way to the client
  EXPECT_EQ(queues()["0"]["queue"], 0);
  EXPECT_EQ(record("one")["result_content"], answer);
}

// ---------------------------------------------------------------- what is not believed

TEST_F(HubTest, MessagesWithAWrongKeyAreIgnored) {
  join(0, "engine a");
  submit_direct("forged", "engine a", {.key = "another"});
  EXPECT_EQ(queues()["0"]["queue"], 0);
  submit_direct("one", "engine a");
  RequestParts forged = result();
  forged.key = "another";
  finish_direct("one", "engine a", forged);
  EXPECT_EQ(queues()["0"]["queue"], 1);
  publish("stream", "one", {{"name", "stdout"}, {"text", "forged"}}, "another");
  EXPECT_EQ(record("one")["stdout"], "");
}

TEST_F(HubTest, ShortAndGarbledMessagesAreIgnored) {
  join(0, "engine a");
  const auto garbled = std::make_shared<TextFrames>(TextFrames{"x", "<IDS|MSG>", "y"});
  tell(DirectSubmitted{EngineUuid{"engine a"}, garbled});
  tell(DirectFinished{EngineUuid{"engine a"}, garbled});
  tell(TaskSubmitted{MessageId{"one"}, garbled});
  tell(TaskFinished{EngineUuid{"engine a"}, MessageId{"one"}, garbled});
  tell(OutputPublished{garbled});
  tell(OutputPublished{std::make_shared<TextFrames>()});
  tell(TaskSubmitted{MessageId{""}, std::make_shared<TextFrames>(TextFrames{
                                        "<IDS|MSG>", "", "not json", "{}", "{}", "{}"})});
  EXPECT_EQ(queues()["unassigned"], 0);
}

TEST_F(HubTest, ARepeatedRequestCountsOnce) {
  join(0, "engine a");
  submit_direct("one", "engine a");
  submit_direct("one", "engine a");
  EXPECT_EQ(queues()["0"]["queue"], 1);
  finish_direct("one", "engine a");
  submit_direct("one", "engine a");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 1}, {"tasks", 0}}));
}

TEST_F(HubTest, MessagesThatAreNeverAnsweredAreNotQueued) {
  join(0, "engine a");
  submit_direct("widget", "engine a", {.msg_type = "comm_msg"});
  EXPECT_EQ(queues()["0"]["queue"], 0);
}

TEST_F(HubTest, UnknownEnginesAndTasksChangeNothing) {
  submit_direct("one", "nobody");
  finish_direct("two", "nobody");
  assign("three", "nobody");
  finish_task("four", "nobody");
  leave("nobody");
  EXPECT_EQ(queues(), Json({{"status", "ok"}, {"unassigned", 0}}));
  EXPECT_EQ(hub_->next_deadline(), std::nullopt);
}

// ---------------------------------------------------------------- bounds

TEST_F(HubTest, CountsAreExactWhileTheListsAreBounded) {
  make_hub(std::make_unique<MemoryStore>(), {.completed_limit = 10, .completed_listed_limit = 3});
  join(0, "engine a");
  for (int i = 0; i < 50; ++i) {
    submit_direct(std::to_string(i), "engine a");
    finish_direct(std::to_string(i), "engine a");
  }
  EXPECT_EQ(queues()["0"]["completed"], 50);
  EXPECT_EQ(queues(true)["0"]["completed"], Json({"47", "48", "49"}));
}

TEST_F(HubTest, MoreUnfinishedTasksThanTheLimitAreNotFollowed) {
  make_hub(std::make_unique<MemoryStore>(), {.pending_limit = 2});
  join(0, "engine a");
  for (const char* msg_id : {"one", "two", "three"}) submit_task(msg_id);
  EXPECT_EQ(queues()["unassigned"], 2);
  assign("three", "engine a");
  finish_task("three", "engine a");
  EXPECT_EQ(queues()["0"], Json({{"queue", 0}, {"completed", 0}, {"tasks", 0}}));
}

}  // namespace
}  // namespace px::controller
