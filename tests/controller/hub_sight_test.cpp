#include <algorithm>

#include "tests/controller/hub_fixture.hpp"

namespace px::controller {
namespace {

/// What the hub tells Sight of the messages that pass.
class HubSightTest : public HubTest {
 protected:
  HubSightTest() { join(0, "ann"); }
  Json measures() { return ask("measures_request", Json::object()).content.at("measures"); }
};

RequestParts cell(std::string code) {
  return {.msg_type = "execute_request", .content = {{"code", std::move(code)}}, .buffers = {}};
}
RequestParts failure() {
  return {.msg_type = "execute_reply",
          .metadata = {{"status", "error"}},
          .content = {{"status", "error"}, {"ename", "NameError"}, {"evalue", "no x\nat all"}},
          .buffers = {}};
}

TEST_F(HubSightTest, ADirectRequestIsSeenUntilItIsAnswered) {
  submit_direct("1", "ann");
  EXPECT_EQ(measures()["engines"][0]["direct"], 1);
  EXPECT_EQ(measures()["engines"][0]["state"], "busy");
  EXPECT_EQ(measures()["work"]["direct"], 1);
  finish_direct("1", "ann");
  const Json seen = measures();
  EXPECT_EQ(seen["engines"][0]["state"], "idle");
  EXPECT_EQ(seen["engines"][0]["finished_total"], 1);
  EXPECT_EQ(seen["finished"][0]["kind"], "apply");
  EXPECT_EQ(seen["finished"][0]["is_ok"], true);
  EXPECT_EQ(seen["clients"][0]["session"], "client one");
  EXPECT_EQ(seen["clients"][0]["name"], "alice");
}

TEST_F(HubSightTest, ATaskIsQueuedThenRunsThenIsFinished) {
  submit_task("1", {.metadata = {{"label", "my label"}}});
  EXPECT_EQ(measures()["work"]["queued"], 1);
  now_ += 2s;
  assign("1", "ann");
  const Json running = measures();
  EXPECT_EQ(running["work"]["queued"], 0);
  EXPECT_EQ(running["work"]["running"], 1);
  EXPECT_EQ(running["queueing_total"]["sum"], 2.0);
  finish_task("1", "ann");
  const Json seen = measures();
  EXPECT_EQ(seen["finished"][0]["kind"], "task");
  EXPECT_EQ(seen["finished"][0]["label"], "my label");
  EXPECT_EQ(seen["work"]["finished_total"], 1);
}

TEST_F(HubSightTest, ACellIsSeenWithItsOutputAndError) {
  submit_direct("1", "ann", cell("\n  print(x)\nmore()"));
  publish("stream", "1", {{"name", "stdout"}, {"text", "so far\n"}});
  finish_direct("1", "ann", failure());
  const Json seen = measures();
  EXPECT_EQ(seen["cells"][0]["source"], "\n  print(x)\nmore()");
  EXPECT_EQ(seen["cells"][0]["parts"][0]["output"], "so far\n");
  EXPECT_EQ(seen["cells"][0]["parts"][0]["error"], "NameError: no x");
  EXPECT_EQ(seen["finished"][0]["label"], "print(x)");
  EXPECT_EQ(seen["engines"][0]["last_error"], "NameError: no x");
  EXPECT_EQ(seen["work"]["failed_total"], 1);
}

TEST_F(HubSightTest, AReplyThatComesTwiceIsSeenOnce) {
  submit_direct("1", "ann");
  finish_direct("1", "ann");
  finish_direct("1", "ann");
  EXPECT_EQ(measures()["work"]["finished_total"], 1);
}

TEST_F(HubSightTest, WhatADeadEngineLeftIsSeenAsFailed) {
  submit_direct("1", "ann");
  tell(EngineLeft{EngineUuid{"ann"}, {.why = "its process ended"}});
  now_ += HubOptions{}.registration_timeout;
  hub_->on_time(wall_, now_);
  const Json seen = measures();
  EXPECT_EQ(seen["work"]["failed_total"], 1);
}

TEST_F(HubSightTest, TheEventsAreTheLatestOfTheEventLog) {
  tell(EventNoted{{{"time", "1970-01-01T00:00:05Z"},
                   {"kind", "started"},
                   {"engine", nullptr},
                   {"host", nullptr},
                   {"text", "the controller has started"}}});
  for (std::size_t i = 0; i < Snapshot::max_events; ++i) {
    EXPECT_EQ(measures()["events"].size(), std::min(i + 1, Snapshot::max_events));
    tell(EventNoted{{{"time", "1970-01-01T00:00:06.5Z"},
                     {"kind", "joined"},
                     {"engine", 3},
                     {"host", "node1"},
                     {"text", "it joined"}}});
  }
  const Json events = measures()["events"];
  ASSERT_EQ(events.size(), Snapshot::max_events);
  EXPECT_EQ(events.front()["number"], 2);
  EXPECT_EQ(events.back()["number"], Snapshot::max_events + 1);
  EXPECT_EQ(events.back()["time"], 6.5);
  EXPECT_EQ(events.back()["engine"], 3);
  EXPECT_EQ(events.back()["host"], "node1");
}

TEST_F(HubSightTest, WhatAnEngineSaysIsShown) {
  EngineFacts facts;
  facts.host = "node1";
  tell(EngineDescribed{EngineUuid{"ann"}, std::make_shared<EngineFacts>(facts)});
  EngineMeasures said;
  said.runs = "solve(A, b)";
  said.msg_id = "1";
  tell(EngineMeasured{EngineUuid{"ann"}, std::make_shared<EngineMeasures>(said)});
  tell(EngineHeard{EngineUuid{"ann"}, true});
  tell(ControllerCounted{3, 4});
  const Json seen = measures();
  EXPECT_EQ(seen["engines"][0]["host"], "node1");
  EXPECT_EQ(seen["engines"][0]["runs"], "solve(A, b)");
  EXPECT_EQ(seen["engines"][0]["state"], "silent");
  EXPECT_EQ(seen["controller"]["bad_messages_total"], 3);
}

TEST_F(HubSightTest, SnapshotsAreShownOnceASecondAndThenAnswersAreTheLatest) {
  std::vector<std::shared_ptr<const Snapshot>> shown;
  HubOptions options;
  options.show_snapshot = [&](std::shared_ptr<const Snapshot> each) { shown.push_back(each); };
  make_hub(std::make_unique<MemoryStore>(), options);
  join(0, "ann");
  hub_->on_time(wall_, now_);
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(hub_->next_deadline(), now_ + 1s);
  submit_direct("1", "ann");
  EXPECT_EQ(measures()["number"], 1);
  EXPECT_EQ(measures()["work"]["submitted_total"], 0);
  now_ += 999ms;
  hub_->on_time(wall_, now_);
  EXPECT_EQ(shown.size(), 1u);
  now_ += 1ms;
  hub_->on_time(wall_, now_);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[1]->work.submitted_total, 1u);
  EXPECT_EQ(measures()["number"], 2);
}

}  // namespace
}  // namespace px::controller
