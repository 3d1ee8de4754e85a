#include "controller/hub/task_store.hpp"
#include "tests/controller/hub_fixture.hpp"

namespace px::controller {
namespace {

class HubQueriesTest : public HubTest {
 protected:
  HubQueriesTest() {
    join(0, "engine a");
    join(1, "engine b");
  }
  void run_direct(std::string_view msg_id, std::string_view value = "result") {
    submit_direct(msg_id, "engine a");
    finish_direct(msg_id, "engine a", result(value));
  }
  std::string error_of(std::string_view msg_type, Json content) {
    const OpenAnswer answer = ask(msg_type, std::move(content));
    EXPECT_EQ(answer.content["status"], "error");
    EXPECT_TRUE(answer.content["traceback"].is_array());
    EXPECT_EQ(answer.content["engine_info"], Json::object());
    return answer.msg_type + " " + answer.content["ename"].get<std::string>() + ": " +
           answer.content["evalue"].get<std::string>();
  }
  Json db_records(Json query, Json keys = nullptr) {
    return ask("db_request", {{"query", std::move(query)}, {"keys", std::move(keys)}})
        .content["records"];
  }
};

TEST_F(HubQueriesTest, AnAnswerGoesBackToWhoAskedAndNamesTheQuestion) {
  const OpenAnswer answer = ask("queue_request", {{"targets", nullptr}});
  EXPECT_EQ(answer.client, "client ident");
  EXPECT_EQ(answer.msg_type, "queue_reply");
  EXPECT_EQ(answer.parent["msg_id"], "question");
}

TEST_F(HubQueriesTest, AnUnknownQuestionIsAnError) {
  EXPECT_EQ(error_of("dance_request", Json::object()),
            "hub_error KeyError: \"Bad Message Type: 'dance_request'\"");
}

// ---------------------------------------------------------------- queue_request, load_request

TEST_F(HubQueriesTest, QueuesAreAskedForByIdUuidOrList) {
  for (const Json& targets : {Json(1), Json("engine b"), Json::array({"engine b"})}) {
    const Json content = ask("queue_request", {{"targets", targets}}).content;
    EXPECT_TRUE(content.contains("1")) << targets;
    EXPECT_FALSE(content.contains("0")) << targets;
  }
}

TEST_F(HubQueriesTest, VerboseQueuesListTheMessages) {
  submit_direct("direct 1", "engine a");
  submit_direct("direct 2", "engine a");
  submit_task("task 1");
  submit_task("task 2");
  assign("task 2", "engine b");
  run_direct("done");
  const Json content = queues(true);
  EXPECT_EQ(content["0"], Json({{"queue", {"direct 1", "direct 2"}},
                                {"completed", {"done"}},
                                {"tasks", Json::array()}}));
  EXPECT_EQ(content["1"]["tasks"], Json({"task 2"}));
  EXPECT_EQ(content["unassigned"], Json({"task 1"}));
}

TEST_F(HubQueriesTest, UnknownTargetsAreNamed) {
  EXPECT_EQ(error_of("queue_request", {{"targets", 99}}),
            "hub_error IndexError: No Such Engine: [99]");
  EXPECT_EQ(error_of("queue_request", {{"targets", {0, "x", 2.5}}}),
            "hub_error IndexError: No Such Engine: ['x', 2.5]");
  EXPECT_EQ(error_of("queue_request", {{"targets", Json::array()}}),
            "hub_error IndexError: No Engines Registered");
  EXPECT_EQ(error_of("queue_request", Json::object()), "hub_error KeyError: 'targets'");
}

TEST_F(HubQueriesTest, TheLoadIsTheUnfinishedWorkOfEachEngine) {
  submit_direct("direct", "engine a");
  submit_task("task");
  assign("task", "engine a");
  const OpenAnswer answer = ask("load_request", {{"targets", nullptr}});
  EXPECT_EQ(answer.msg_type, "load_reply");
  EXPECT_EQ(answer.content, Json({{"status", "ok"}, {"0", 2}, {"1", 0}}));
  EXPECT_EQ(error_of("load_request", {{"targets", 7}}),
            "hub_error IndexError: No Such Engine: [7]");
}

// ---------------------------------------------------------------- result_request

TEST_F(HubQueriesTest, ResultsComeInTheOrderOfTheirIdsWithTheirBuffers) {
  run_direct("b", "result of b");
  run_direct("a", "result of a");
  submit_direct("c", "engine a");
  const OpenAnswer answer = ask("result_request", {{"msg_ids", {"b", "c", "a", "b"}}});
  EXPECT_EQ(answer.msg_type, "result_reply");
  EXPECT_EQ(answer.content["completed"], Json({"a", "b"}));
  EXPECT_EQ(answer.content["pending"], Json({"c"}));
  EXPECT_EQ(answer.buffers, (std::vector<std::string>{"result of a", "result of b"}));
  const Json& a = answer.content["a"];
  EXPECT_EQ(a["header"]["msg_id"], "a");
  EXPECT_EQ(a["result_header"]["msg_type"], "apply_reply");
  EXPECT_EQ(a["received"], "2026-11-21T08:00:03Z");
  EXPECT_EQ(a["io"], Json({{"execute_input", nullptr},
                           {"execute_result", nullptr},
                           {"error", nullptr},
                           {"stdout", ""},
                           {"stderr", ""}}));
}

TEST_F(HubQueriesTest, AGivenUpRequestIsACompleteResultWithoutBuffers) {
  submit_direct("one", "engine a");
  leave("engine a");
  hub_->on_time(wall_, at(30s));
  const OpenAnswer answer = ask("result_request", {{"msg_ids", {"one"}}});
  EXPECT_EQ(answer.content["one"]["result_content"]["status"], "error");
  EXPECT_EQ(answer.content["one"]["result_metadata"], Json::object());
  EXPECT_EQ(answer.content["one"]["result_header"]["msg_type"], "apply_reply");
  EXPECT_TRUE(answer.buffers.empty());
}

TEST_F(HubQueriesTest, TheStatusAloneHasNoResults) {
  run_direct("a");
  const OpenAnswer answer = ask("result_request", {{"msg_ids", {"a"}}, {"status_only", true}});
  EXPECT_EQ(answer.content,
            Json({{"status", "ok"}, {"pending", Json::array()}, {"completed", {"a"}}}));
  EXPECT_TRUE(answer.buffers.empty());
}

TEST_F(HubQueriesTest, UnknownAndPurgedResultsAreErrors) {
  run_direct("a");
  EXPECT_EQ(error_of("result_request", {{"msg_ids", {"a", "it"}}}),
            "result_reply KeyError: 'No such message: it'");
  ask("purge_request", {{"msg_ids", {"a"}}, {"engine_ids", Json::array()}});
  EXPECT_EQ(error_of("result_request", {{"msg_ids", {"a"}}}), "hub_error KeyError: 'a'");
  EXPECT_EQ(error_of("result_request", Json::object()), "hub_error KeyError: 'msg_ids'");
}

// ---------------------------------------------------------------- history_request, db_request

TEST_F(HubQueriesTest, TheHistoryIsInTheOrderOfSubmission) {
  submit_direct("late", "engine a", {.date = "2026-11-21T08:00:09Z"});
  submit_direct("early", "engine a", {.date = "2026-11-21T08:00:01Z"});
  submit_direct("undated", "engine a", {.date = "yesterday"});
  const OpenAnswer answer = ask("history_request", Json::object());
  EXPECT_EQ(answer.msg_type, "history_reply");
  EXPECT_EQ(answer.content["history"], Json({"early", "late"}));
}

TEST_F(HubQueriesTest, RecordsComeWithTheWantedKeysAndTheirId) {
  run_direct("a");
  EXPECT_EQ(db_records({{"msg_id", "a"}}, {"queue"}),
            Json::array({{{"msg_id", "a"}, {"queue", "mux"}}}));
  EXPECT_EQ(db_records({{"msg_id", "a"}}, {"msg_id"}), Json::array({{{"msg_id", "a"}}}));
  EXPECT_EQ(db_records({{"msg_id", {{"$ne", "a"}}}}), Json::array());
}

TEST_F(HubQueriesTest, BuffersFollowBehindTheRecords) {
  run_direct("a", "result of a");
  submit_direct("b", "engine a");
  const OpenAnswer all =
      ask("db_request", {{"query", Json::object()}, {"keys", {"buffers", "result_buffers"}}});
  EXPECT_EQ(all.content["buffer_lens"], Json({2, 2}));
  EXPECT_EQ(all.content["result_buffer_lens"], Json({1, 0}));
  EXPECT_EQ(all.buffers, (std::vector<std::string>{"function", "argument", "result of a",
                                                   "function", "argument"}));
  EXPECT_EQ(all.content["records"][0], Json({{"msg_id", "a"}}));
  const OpenAnswer results =
      ask("db_request", {{"query", Json::object()}, {"keys", {"result_buffers"}}});
  EXPECT_EQ(results.content["buffer_lens"], nullptr);
  EXPECT_EQ(results.buffers, std::vector<std::string>{"result of a"});
  const OpenAnswer none = ask("db_request", {{"query", Json::object()}});
  EXPECT_EQ(none.content["result_buffer_lens"], nullptr);
  EXPECT_TRUE(none.buffers.empty());
}

TEST_F(HubQueriesTest, WhatNestsTooDeeplyForAnAnswerIsNullInIt) {
  Json nested = "innermost";
  for (std::size_t depth = 2; depth < max_json_depth; ++depth) nested = Json::array({nested});
  submit_direct("a", "engine a", {.metadata = {{"label", nested}}, .content = {{"deep", nested}}});
  const Json record = db_records({{"msg_id", "a"}})[0];
  for (const char* key : {"label", "metadata", "content"})
    EXPECT_TRUE(record[key].is_null()) << key;
  EXPECT_TRUE(unpack(Packer::json, ask("db_request", {{"query", Json::object()}}).content.dump()));
}

TEST_F(HubQueriesTest, AnAnswerThatIsTooLongIsRefused) {
  make_hub(std::make_unique<MemoryStore>(), {.most_answer_bytes = 200'000});
  join(0, "engine a");
  for (int i = 0; i < 20; ++i)
    submit_direct("m" + std::to_string(i), "engine a",
                  {.content = {{"code", std::string(20'000, 'x')}}});
  EXPECT_EQ(error_of("db_request", {{"query", Json::object()}}),
            "db_reply Overloaded: the records that were asked for have more than 0 MiB: ask for "
            "fewer of them, or for fewer keys");
  EXPECT_EQ(db_records(Json::object(), {"msg_id"}).size(), 20);
  EXPECT_EQ(db_records({{"msg_id", "m1"}}).size(), 1);
}

TEST_F(HubQueriesTest, BadQueriesAreErrors) {
  EXPECT_EQ(error_of("db_request", {{"query", Json::object()}, {"keys", {"msg_id", "colour"}}}),
            "db_reply KeyError: \"Bad record key(s): ['colour']\"");
  EXPECT_EQ(error_of("db_request", {{"query", {{"label", {{"$near", 1}}}}}}),
            "db_reply KeyError: \"Unsupported operator: '$near'\"");
}

// ---------------------------------------------------------------- purge_request

TEST_F(HubQueriesTest, PurgeForgetsNamedRecords) {
  run_direct("a");
  run_direct("b");
  const OpenAnswer answer = ask("purge_request", {{"msg_ids", {"a", "unknown"}}});
  EXPECT_EQ(answer.msg_type, "purge_reply");
  EXPECT_EQ(answer.content, Json({{"status", "ok"}}));
  EXPECT_EQ(record("a"), nullptr);
  EXPECT_NE(record("b"), nullptr);
}

TEST_F(HubQueriesTest, PurgeOfAllKeepsWhatIsUnfinished) {
  run_direct("a");
  submit_direct("b", "engine a");
  ask("purge_request", {{"msg_ids", "all"}, {"engine_ids", Json::array()}});
  EXPECT_EQ(ask("history_request", Json::object()).content["history"], Json({"b"}));
}

TEST_F(HubQueriesTest, PurgeByEngineForgetsItsFinishedRecords) {
  run_direct("a");
  submit_direct("b", "engine b");
  finish_direct("b", "engine b");
  ask("purge_request", {{"msg_ids", Json::array()}, {"engine_ids", {1}}});
  EXPECT_EQ(ask("history_request", Json::object()).content["history"], Json({"a"}));
}

TEST_F(HubQueriesTest, PurgeRefusesPendingMessagesAndUnknownEngines) {
  submit_direct("b", "engine a");
  EXPECT_EQ(error_of("purge_request", {{"msg_ids", {"b"}}}),
            "purge_reply IndexError: msg pending: 'b'");
  EXPECT_EQ(error_of("purge_request", {{"msg_ids", Json::array()}, {"engine_ids", {88}}}),
            "purge_reply IndexError: No such engine: 88");
  leave("engine b");
  EXPECT_EQ(error_of("purge_request", {{"msg_ids", Json::array()}, {"engine_ids", {1}}}),
            "purge_reply IndexError: No such engine: 1");
}

// ---------------------------------------------------------------- resubmit_request

TEST_F(HubQueriesTest, AResubmittedTaskIsSentAgainUnderANewId) {
  submit_direct("old", "engine a", {.metadata = {{"label", "lost"}}, .content = {{"code", "1"}}});
  finish_direct("old", "engine a");
  const auto effects = ask_for_effects("resubmit_request", {{"msg_ids", {"old"}}});
  ASSERT_EQ(effects.size(), 2u);
  const OpenAnswer answer = open_answer(effects[1]);
  EXPECT_EQ(answer.msg_type, "resubmit_reply");
  const std::string fresh = answer.content["resubmitted"]["old"].get<std::string>();

  const SharedFrames sent = std::get<ResubmitTask>(effects[0]).frames;
  const Envelope envelope = Envelope::locate(*sent).value();
  EXPECT_EQ(envelope.ident_count, 0u);
  EXPECT_TRUE(signer().verify(envelope));
  const Header header = read_header(Packer::json, envelope.header).value();
  EXPECT_EQ(header.msg_id.text, fresh);
  EXPECT_EQ(header.session.text, "client one");
  EXPECT_EQ(header.msg_type, "apply_request");
  EXPECT_EQ(header.date, "2026-11-21T08:00:03Z");
  EXPECT_EQ(envelope.metadata, "{}");
  EXPECT_EQ(envelope.content, R"({"code":"1"})");
  EXPECT_EQ(sent->at(envelope.first_buffer + 1), "argument");

  EXPECT_EQ(record("old")["resubmitted"], fresh);
  EXPECT_EQ(ask("result_request", {{"msg_ids", {fresh}}}).content["pending"], Json({fresh}));
}

TEST_F(HubQueriesTest, AResubmittedTaskRunsItsCourse) {
  run_direct("old");
  const auto effects = ask_for_effects("resubmit_request", {{"msg_ids", {"old"}}});
  const std::string fresh = open_answer(effects[1]).content["resubmitted"]["old"];
  EXPECT_EQ(queues()["unassigned"], 0);
  tell(TaskSubmitted{MessageId{fresh}, std::get<ResubmitTask>(effects[0]).frames});
  EXPECT_EQ(queues()["unassigned"], 1);
  assign(fresh, "engine b");
  finish_task(fresh, "engine b", result("again"));
  EXPECT_EQ(queues()["1"], Json({{"queue", 0}, {"completed", 1}, {"tasks", 0}}));
  EXPECT_EQ(ask("result_request", {{"msg_ids", {fresh}}}).buffers,
            std::vector<std::string>{"again"});
}

TEST_F(HubQueriesTest, AControllerWithoutAQueueOfTasksResubmitsNone) {
  HubOptions options;
  options.why_no_resubmission = "there is no queue";
  make_hub(std::make_unique<MemoryStore>(), options);
  join(0, "engine a");
  run_direct("old");
  EXPECT_EQ(error_of("resubmit_request", {{"msg_ids", {"old"}}}),
            "resubmit_reply ValueError: there is no queue");
}

TEST_F(HubQueriesTest, ResubmittingTheUnknownIsAnError) {
  publish("stream", "output only", {{"name", "stdout"}, {"text", "hi"}});
  EXPECT_EQ(error_of("resubmit_request", {{"msg_ids", {"x", "output only"}}}),
            "resubmit_reply KeyError: \"No such msg(s): ['output only', 'x']\"");
}

// ---------------------------------------------------------------- without a store

TEST_F(HubQueriesTest, WithoutAStoreQuestionsAboutRecordsHaveNoData) {
  make_hub(std::make_unique<NoStore>());
  join(0, "engine a");
  run_direct("a");
  for (const char* msg_type : {"result", "history", "db", "resubmit"})
    EXPECT_TRUE(error_of(std::string(msg_type) + "_request", {{"msg_ids", {"a"}}})
                    .starts_with(std::string(msg_type) + "_reply NoData: NoDB backend"));
  EXPECT_EQ(queues()["0"]["completed"], 1);
  EXPECT_EQ(ask("result_request", {{"msg_ids", {"a"}}, {"status_only", true}}).content["completed"],
            Json({"a"}));
  EXPECT_EQ(ask("purge_request", {{"msg_ids", "all"}}).content["status"], "ok");
}

TEST_F(HubTest, EventsAreKeptForClientsThatAsk) {
  tell(EventNoted{{{"time", "2026-11-27T10:00:00Z"}, {"kind", "joined"}}});
  tell(EventNoted{{{"time", "2026-11-27T11:00:00Z"}, {"kind", "died"}}});
  const OpenAnswer all = ask("events_request", Json::object());
  EXPECT_EQ(all.msg_type, "events_reply");
  EXPECT_EQ(all.content["status"], "ok");
  EXPECT_EQ(all.content["events"].size(), 2U);
  const Json late = ask("events_request", {{"since", "2026-11-27T10:30:00Z"}}).content["events"];
  ASSERT_EQ(late.size(), 1U);
  EXPECT_EQ(late[0]["kind"], "died");
  EXPECT_EQ(ask("events_request", {{"since", "now"}}).content["ename"], "ValueError");
}

}  // namespace
}  // namespace px::controller
