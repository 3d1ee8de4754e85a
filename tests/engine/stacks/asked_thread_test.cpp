#include "engine/stacks/asked_thread.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace px::engine {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{};
constexpr Duration patience = 300ms;

class AskedThreadTest : public ::testing::Test {
 protected:
  net::Loop loop;
  AskedThread asked{loop.waker(), patience, {{"holds_lock", true}}};
  std::vector<Json> places;
  AskedThread::Then keep = [this](Json place) { places.push_back(std::move(place)); };
};

/// Waits for questions until the end, and answers them or not.
std::thread start_thread(AskedThread& asked, bool answers) {
  std::promise<void> begun;
  std::thread thread{[&asked, answers, &begun] {
    AskedThread* const one = &asked;
    begun.set_value();
    while (one->wait())
      if (answers) one->answer({{"line", 3}});
    one->leave();
  }};
  begun.get_future().wait();
  return thread;
}

TEST_F(AskedThreadTest, WithoutAThreadTheAnswerIsEmptyAtOnce) {
  asked.ask(now, keep);
  EXPECT_EQ(places, std::vector<Json>{Json::object()});
  EXPECT_EQ(asked.next_deadline(), std::nullopt);
}

TEST_F(AskedThreadTest, AnAnswerIsForAllWhoAsked) {
  std::thread thread = start_thread(asked, true);
  while (places.empty()) {  // until the thread waits
    asked.ask(now, keep);
    if (asked.next_deadline()) break;
    places.clear();
  }
  asked.ask(now, keep);
  while (places.empty()) {
    loop.wait_until(Clock::now() + 60s);
    asked.on_time(now);
  }
  for (const Json& place : places) EXPECT_EQ(place, (Json{{"line", 3}}));
  EXPECT_EQ(places.size(), 2U);
  EXPECT_EQ(asked.next_deadline(), std::nullopt);
  asked.close();
  thread.join();
}

TEST_F(AskedThreadTest, AThreadThatIsLateHoldsNobodyUp) {
  std::thread thread = start_thread(asked, false);
  while (!asked.next_deadline()) asked.ask(now, keep);  // until the thread waits
  places.clear();
  EXPECT_EQ(asked.next_deadline(), now + patience);
  asked.on_time(now + patience - 1ms);
  EXPECT_TRUE(places.empty());
  asked.on_time(now + patience);
  EXPECT_EQ(places, (std::vector<Json>{{{"holds_lock", true}}}));
  asked.close();
  thread.join();
}

TEST_F(AskedThreadTest, AQuestionWaitsForAThreadThatIsExpected) {
  asked.expect();
  asked.ask(now, keep);
  EXPECT_TRUE(places.empty());
  std::thread thread = start_thread(asked, true);
  while (places.empty()) {
    loop.wait_until(Clock::now() + 60s);
    asked.on_time(now);
  }
  EXPECT_EQ(places, (std::vector<Json>{{{"line", 3}}}));
  EXPECT_TRUE(asked.close());
  thread.join();
}

TEST_F(AskedThreadTest, AfterTheEndTheAnswerIsEmpty) {
  std::thread thread = start_thread(asked, false);
  asked.close();
  thread.join();
  asked.ask(now, keep);
  EXPECT_EQ(places, std::vector<Json>{Json::object()});
}

}  // namespace
}  // namespace px::engine
