#include "engine/place_finder.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace px::engine {
namespace {

using namespace std::chrono_literals;

constexpr Instant now{};

class PlaceFinderTest : public ::testing::Test {
 protected:
  net::Loop loop;
  PlaceFinder finder{loop.waker()};
  std::vector<Json> places;
  PlaceFinder::Then keep = [this](Json place) { places.push_back(std::move(place)); };
};

/// Waits for questions until the end, and answers them or not.
std::thread start_finder(PlaceFinder& finder, bool answers) {
  std::promise<void> begun;
  std::thread thread{[&finder, answers, &begun] {
    PlaceFinder* const one = &finder;
    begun.set_value();
    while (one->wait())
      if (answers) one->answer({{"line", 3}});
    one->leave();
  }};
  begun.get_future().wait();
  return thread;
}

TEST_F(PlaceFinderTest, WithoutAFinderTheAnswerIsEmptyAtOnce) {
  finder.ask(now, keep);
  EXPECT_EQ(places, std::vector<Json>{Json::object()});
  EXPECT_EQ(finder.next_deadline(), std::nullopt);
}

TEST_F(PlaceFinderTest, AFindersAnswerIsForAllWhoAsked) {
  std::thread thread = start_finder(finder, true);
  while (places.empty()) {  // until the finder waits
    finder.ask(now, keep);
    if (finder.next_deadline()) break;
    places.clear();
  }
  finder.ask(now, keep);
  while (places.empty()) {
    loop.wait_until(Clock::now() + 10s);
    finder.on_time(now);
  }
  for (const Json& place : places) EXPECT_EQ(place, (Json{{"line", 3}}));
  EXPECT_EQ(places.size(), 2U);
  EXPECT_EQ(finder.next_deadline(), std::nullopt);
  finder.close();
  thread.join();
}

TEST_F(PlaceFinderTest, AFinderThatGetsNoLockHoldsNobodyUp) {
  std::thread thread = start_finder(finder, false);
  while (!finder.next_deadline()) finder.ask(now, keep);  // until the finder waits
  places.clear();
  EXPECT_EQ(finder.next_deadline(), now + PlaceFinder::patience);
  finder.on_time(now + PlaceFinder::patience - 1ms);
  EXPECT_TRUE(places.empty());
  finder.on_time(now + PlaceFinder::patience);
  EXPECT_EQ(places, (std::vector<Json>{{{"holds_lock", true}}}));
  finder.close();
  thread.join();
}

TEST_F(PlaceFinderTest, AfterTheEndTheAnswerIsEmpty) {
  std::thread thread = start_finder(finder, false);
  finder.close();
  thread.join();
  finder.ask(now, keep);
  EXPECT_EQ(places, std::vector<Json>{Json::object()});
}

}  // namespace
}  // namespace px::engine
