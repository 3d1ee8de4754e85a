#include "engine/stacks/stack_taker.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using namespace std::chrono_literals;
using os::StackScope;

class StackTakerTest : public ::testing::Test {
 protected:
  AskedThread::Then keep_in(std::vector<Json>& answers) {
    return [&answers](Json answer) { answers.push_back(std::move(answer)); };
  }
  void wait_for(const std::vector<Json>& answers) {
    while (answers.empty()) {
      loop.wait_until(Clock::now() + 60s);
      taker.on_time(Clock::now());
    }
  }

  net::Loop loop;
  StackTaker taker{loop.waker(), {}};
};

TEST_F(StackTakerTest, WhoAsksForAllThreadsGetsNoAnswerToASmallerQuestion) {
  for (int i = 0; i < 200; ++i) {
    std::vector<Json> of_main, of_all;
    taker.ask(Clock::now(), StackScope::running_main, keep_in(of_main));
    taker.ask(Clock::now(), StackScope::all, keep_in(of_all));
    wait_for(of_all);
    ASSERT_EQ(of_main.size(), 1U);
    ASSERT_FALSE(of_all[0].contains("only_main")) << i;
  }
}

TEST_F(StackTakerTest, AQuestionForTheMainThreadAloneIsAnsweredAsSuch) {
  std::vector<Json> answers;
  taker.ask(Clock::now(), StackScope::running_main, keep_in(answers));
  wait_for(answers);
  EXPECT_EQ(answers[0]["only_main"], true);
}

}  // namespace
}  // namespace px::engine
