#include "controller/scheduler/task_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

TaskRules rules(std::string_view text) {
  const auto result = read_task_rules(Packer::json, text);
  EXPECT_TRUE(result) << text;
  return result ? *result : TaskRules{};
}

TEST(TaskRules, WhatIpyparallelSendsForAPlainTaskAsksForNothing) {
  EXPECT_TRUE(rules(R"({"after": [], "follow": [], "timeout": 0.0, "targets": [], )"
                    R"("retries": 0, "label": null})")
                  .is_plain());
  EXPECT_TRUE(rules("{}").is_plain());
  EXPECT_TRUE(rules(R"({"timeout": null, "targets": null, "label": {"timeout": 3}})").is_plain());
}

TEST(TaskRules, EveryKeyIsRead) {
  const TaskRules read =
      rules(R"({"after":["a","b","a"],"follow":{"dependencies":["c"],"all":false,"success":false,)"
            R"("failure":true},"timeout":1.5,"targets":["e1","e2"],"retries":3})");
  EXPECT_EQ(read.after.msg_ids, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(read.after.all && read.after.success && !read.after.failure);
  EXPECT_EQ(read.follow.msg_ids, (std::vector<std::string>{"c"}));
  EXPECT_TRUE(!read.follow.all && !read.follow.success && read.follow.failure);
  EXPECT_EQ(read.timeout, 1500ms);
  EXPECT_EQ(read.targets, (std::vector{EngineUuid{"e1"}, EngineUuid{"e2"}}));
  EXPECT_EQ(read.retries, 3);
}

TEST(TaskRules, RanksAreANumberOrARange) {
  EXPECT_TRUE(rules(R"({"ranks": 1})").is_plain());
  EXPECT_EQ(rules(R"({"ranks": 4})").ranks, (RankCount{4, 4}));
  EXPECT_EQ(rules(R"({"ranks": [2, 8]})").ranks, (RankCount{2, 8}));
  EXPECT_FALSE(rules(R"({"ranks": [1, 8]})").is_plain());
}

TEST(TaskRules, SenselessRanksAreRefused) {
  for (const char* ranks :
       {"0", "-1", "1.5", "[2]", "[3, 2]", "[0, 2]", "[2, 3, 4]", "true", R"("4")", "1000001"}) {
    const auto read = read_task_rules(Packer::json, std::string(R"({"ranks": )") + ranks + "}");
    ASSERT_FALSE(read) << ranks;
    EXPECT_NE(read.error().what.find("ranks"), std::string::npos);
  }
}

TEST(TaskRules, AnEscapedKeyIsReadToo) {
  EXPECT_EQ(rules(R"({"re\u0074ries": 2})").retries, 2);
}

TEST(TaskRules, ADependencyObjectWithoutIdsIsNone) {
  EXPECT_TRUE(rules(R"({"after":{"all":true}})").after.empty());
}

TEST(TaskRules, SenselessNumbersAreTakenAsNone) {
  EXPECT_EQ(rules(R"({"timeout":-1})").timeout, 0s);
  EXPECT_EQ(rules(R"({"timeout":1e300})").timeout, 0s);
  EXPECT_EQ(rules(R"({"retries":-5})").retries, 0);
}

TEST(TaskRules, WrongTypesAreNamed) {
  for (const char* text : {R"({"targets":[1]})", R"({"after":7})", R"({"follow":[[]]})",
                           R"({"timeout":"x"})", "[]", "", "{"}) {
    EXPECT_FALSE(read_task_rules(Packer::json, text)) << text;
  }
  EXPECT_NE(read_task_rules(Packer::json, R"({"targets":[1]})").error().what.find("targets"),
            std::string::npos);
}

TEST(TaskRules, MsgpackIsReadToo) {
  const auto packed = pack(Packer::msgpack, Json{{"retries", 2}, {"targets", {"e1"}}});
  const auto read = read_task_rules(Packer::msgpack, packed);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->retries, 2);
  EXPECT_EQ(read->targets.size(), 1u);
}

TEST(TaskOutcome, TheStatusAndTheDependenciesDecide) {
  const auto outcome = [](const char* text) { return read_task_outcome(Packer::json, text); };
  EXPECT_EQ(outcome(R"({"status":"ok","dependencies_met":true})"), TaskOutcome::ok);
  EXPECT_EQ(outcome(R"({"status":"error"})"), TaskOutcome::failed);
  EXPECT_EQ(outcome(R"({"status":"aborted"})"), TaskOutcome::aborted);
  EXPECT_EQ(outcome(R"({"status":"given_back"})"), TaskOutcome::given_back);
  EXPECT_EQ(outcome(R"({"status":"error","dependencies_met":false})"), TaskOutcome::unmet);
  EXPECT_EQ(outcome("{}"), TaskOutcome::ok);
  EXPECT_EQ(read_task_outcome(Packer::msgpack, pack(Packer::msgpack, Json{{"status", "error"}})),
            TaskOutcome::failed);
}

TEST(GivenBack, SaysWhichTaskAndByWhichMessage) {
  const auto task = read_given_back(Packer::json, R"({"msg_id":"t1","repetition":2})");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->msg_id.text, "t1");
  EXPECT_EQ(task->repetition, 2);
  EXPECT_FALSE(task->is_ending);
  for (const char* content : {"[", "{}", R"({"msg_id":"t1"})", R"({"msg_id":1,"repetition":2})"})
    EXPECT_FALSE(read_given_back(Packer::json, content)) << content;
}

}  // namespace
}  // namespace px::controller
