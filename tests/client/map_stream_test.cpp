#include "client/map_stream.hpp"

#include <gtest/gtest.h>

#include <string>

#include "client/partition.hpp"
#include "client/requests/call.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;
using Numbers = std::vector<std::size_t>;

/// A stream of single items whose tasks are answered by hand.
class MapStreamTest : public ::testing::Test {
 protected:
  MapStream stream(std::size_t count, std::size_t max_outstanding, bool is_ordered) {
    return {[this](Block block) { return send(block); }, blocks_of(count, 1), max_outstanding,
            is_ordered};
  }
  AsyncResult send(Block block) {
    sent.push_back(block.begin);
    calls.push_back(std::make_shared<Call>(
        std::vector<TaskSent>{{MessageId{"m_" + std::to_string(block.begin)}, {}, {}, {}, {}}}));
    return {calls.back(), {}};
  }
  /// The value of a task is the number of its item.
  void answer(std::size_t task) {
    const Json content{{"status", "ok"}, {"value", {{"json", {task}}}}};
    calls.at(task)->answer(0, {calls[task]->msg_id(0), TaskStatus::ok, {}, "ann"},
                           Reply::of_record({}, {}, content, {}), {});
  }
  void fail(std::size_t task) {
    calls.at(task)->fail(0, {"ValueError", "no luck", {}, std::nullopt, ""}, {});
  }
  /// The number of the item that comes next.
  static std::size_t next(MapStream& stream) {
    const std::optional<MapStream::Part> part = stream.next(60s);
    EXPECT_EQ(as<Json>(part->results), Json::array({part->items.begin}));
    EXPECT_EQ(part->items.size(), 1u);
    return part->items.begin;
  }

  Numbers sent;
  std::vector<std::shared_ptr<Call>> calls;
};

TEST_F(MapStreamTest, SendsAsManyAsAreAllowedAndOneMoreForEachThatIsTaken) {
  MapStream numbers = stream(5, 2, true);
  EXPECT_EQ(sent, (Numbers{0, 1}));
  answer(0);
  EXPECT_EQ(sent, (Numbers{0, 1})) << "an answer that nobody has taken still counts";
  EXPECT_EQ(next(numbers), 0u);
  EXPECT_EQ(sent, (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers.taken(), 1u);
  EXPECT_EQ(numbers.tasks(), 5u);
}

TEST_F(MapStreamTest, SendsAllWhereThereIsNoBound) {
  const MapStream numbers = stream(5, 0, true);
  EXPECT_EQ(sent.size(), 5u);
}

TEST_F(MapStreamTest, GivesResultsInTheOrderOfTheItemsWhicheverComeFirst) {
  MapStream numbers = stream(3, 0, true);
  answer(2);
  answer(1);
  EXPECT_THROW(numbers.next(0s), TimeoutError);
  answer(0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(next(numbers), i);
  EXPECT_FALSE(numbers.next(0s));
}

TEST_F(MapStreamTest, GivesResultsAsTheyComeWhereTheOrderIsOfNoMatter) {
  MapStream numbers = stream(3, 0, false);
  answer(2);
  EXPECT_EQ(next(numbers), 2u);
  EXPECT_THROW(numbers.next(0s), TimeoutError);
  answer(0);
  answer(1);
  EXPECT_EQ(next(numbers), 0u);
  EXPECT_EQ(next(numbers), 1u);
  EXPECT_FALSE(numbers.next(0s));
}

TEST_F(MapStreamTest, ThrowsTheFailureOfATaskAndGoesOn) {
  for (const bool is_ordered : {true, false}) {
    sent.clear();
    calls.clear();
    MapStream numbers = stream(3, 2, is_ordered);
    fail(0);
    EXPECT_THROW(numbers.next(60s), RemoteError);
    EXPECT_EQ(numbers.taken(), 1u);
    EXPECT_EQ(sent.size(), 3u) << "the failed one makes room";
    answer(1);
    answer(2);
    EXPECT_EQ(next(numbers), 1u);
    EXPECT_EQ(next(numbers), 2u);
    EXPECT_FALSE(numbers.next(0s));
  }
}

TEST_F(MapStreamTest, SendsNothingMoreAfterAnAbort) {
  MapStream numbers = stream(5, 2, true);
  numbers.abort();
  EXPECT_EQ(numbers.tasks(), 2u);
  answer(0);
  answer(1);
  EXPECT_EQ(next(numbers), 0u);
  EXPECT_EQ(next(numbers), 1u);
  EXPECT_FALSE(numbers.next(0s));
  EXPECT_EQ(sent.size(), 2u);
}

TEST_F(MapStreamTest, EndsAtOnceWithoutItems) {
  MapStream nothing = stream(0, 4, false);
  EXPECT_EQ(nothing.tasks(), 0u);
  EXPECT_FALSE(nothing.next(0s));
}

TEST_F(MapStreamTest, AnswersMayComeAfterTheStreamIsGone) {
  {
    const MapStream numbers = stream(2, 0, false);
  }
  answer(0);
  answer(1);
}

}  // namespace
}  // namespace px::client
