#include "controller/web/stack_question.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
const MessageId first{"m1"}, second{"m2"};

StackQuestion question_to_two() {
  StackQuestion question{start};
  question.asked(first, EngineId{3});
  question.asked(second, EngineId{1});
  return question;
}

Json rows(const StackQuestion& question) {
  return stacks_for_page(Packer::json, question.replies()).at("engines");
}

TEST(StackQuestion, IsOverWhenAllHaveAnswered) {
  StackQuestion question = question_to_two();
  question.answered(second, "{}");
  EXPECT_FALSE(question.is_over(start));
  question.answered(first, "{}");
  EXPECT_TRUE(question.is_over(start));
}

TEST(StackQuestion, IsOverWhenItTakesTooLong) {
  const StackQuestion question = question_to_two();
  EXPECT_FALSE(question.is_over(start + StackQuestion::patience - 1ms));
  EXPECT_TRUE(question.is_over(question.deadline()));
}

TEST(StackQuestion, ThePageGetsWhatTheEnginesSayOfTheirCalls) {
  StackQuestion question = question_to_two();
  question.answered(first, R"({"pid": 4, "running": {"what": "f", "seconds": 2.5}, "place": {},
      "stacks": {"hidden": 7, "threads": [{"thread": 4, "main": true, "frames": []}]}})");
  question.answered(MessageId{"of another question"}, R"({"place": {}})");
  EXPECT_EQ(rows(question), Json::parse(R"([
      {"engine": 3, "running": {"what": "f", "seconds": 2.5}, "place": {},
       "stacks": {"hidden": 7, "threads": [{"thread": 4, "main": true, "frames": []}]}},
      {"engine": 1}])"));
}

TEST(StackQuestion, AnEngineThatAnswersTwiceIsHeardOnce) {
  StackQuestion question = question_to_two();
  question.answered(first, R"({"place": {}})");
  question.answered(first, R"({"place": {"line": 3}})");
  EXPECT_EQ(rows(question)[0], (Json{{"engine", 3}, {"place", Json::object()}}));
  EXPECT_FALSE(question.is_over(start));
}

TEST(StackQuestion, WhatIsNoAnswerIsSaid) {
  StackQuestion question = question_to_two();
  question.answered(first, "{");
  question.answered(second, R"({"status": "error", "evalue": "engine 1 is gone"})");
  EXPECT_EQ(rows(question)[0]["why"], "its answer cannot be read");
  EXPECT_EQ(rows(question)[1]["why"], "engine 1 is gone");
}

TEST(StackQuestion, AnswersThatAreTooLongTogetherAreLeftOut) {
  StackQuestion question = question_to_two();
  question.answered(first, std::string(StackQuestion::most_bytes, ' '));
  question.answered(second, "{}");
  EXPECT_TRUE(question.is_over(start));
  EXPECT_FALSE(question.replies()[0].is_left_out);
  EXPECT_TRUE(question.replies()[1].is_left_out);
  EXPECT_EQ(rows(question)[1]["why"], "the answers of all engines are too long: ask fewer engines");
}

TEST(StackQuestion, OddShapesDoNoHarm) {
  StackQuestion question = question_to_two();
  question.answered(first, R"(["a"])");
  question.answered(second, R"({"stacks": 7, "running": "x", "place": null})");
  EXPECT_EQ(rows(question).size(), 2u);
}

TEST(StackQuestion, AnEngineThatDoesNotKnowTheQuestionSaysSo) {
  StackQuestion question = question_to_two();
  question.answered(first, R"({"pid": 4})");  // as one of ipyparallel
  EXPECT_EQ(rows(question)[0], (Json{{"engine", 3}, {"why", "it cannot report stacks"}}));
}

}  // namespace
}  // namespace px::controller
