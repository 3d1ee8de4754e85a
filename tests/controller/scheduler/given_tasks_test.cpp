#include "controller/scheduler/given_tasks.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace px::controller {
namespace {

using namespace std::chrono_literals;
using Rooms = std::vector<std::size_t>;

constexpr WorkerKey ann = 1;

/// What ann, who gives tasks back, may hold ahead after each of her tasks, which took so long.
class GivenTasksOfAnn : public testing::Test {
 protected:
  GivenTasksOfAnn() {
    given_.add(ann);
    given_.set_gives_back(ann, true);
  }
  Rooms rooms_after(const std::vector<Duration>& tasks) {
    Rooms rooms;
    for (const Duration task : tasks) {
      given_.given(ann, ++order_, "task", now_);
      now_ += task;
      given_.answered(ann, order_, now_);
      rooms.push_back(given_.room_ahead(ann));
    }
    return rooms;
  }
  GivenTasks given_{{.hwm = 1, .quick = 8ms, .ahead = 4, .ahead_lasts = 4ms}};

 private:
  Instant now_ = Instant{} + 1h;
  std::uint64_t order_ = 0;
};

TEST_F(GivenTasksOfAnn, TheFirstQuickTaskAllowsOneAndFurtherOnesAllowMore) {
  EXPECT_EQ(given_.room_ahead(ann), 0u);
  EXPECT_EQ(rooms_after(std::vector<Duration>(10, 0ms)), (Rooms{1, 1, 1, 1, 2, 2, 3, 4, 4, 4}));
}

TEST_F(GivenTasksOfAnn, TasksThatTakeLongerAllowFewer) {
  EXPECT_EQ(rooms_after(std::vector<Duration>(100, 2ms)).back(), 2u);
  EXPECT_EQ(rooms_after(std::vector<Duration>(100, 5ms)).back(), 1u);
}

TEST_F(GivenTasksOfAnn, ALongTaskAllowsNoneAndItBeginsAgainWithOne) {
  rooms_after(std::vector<Duration>(10, 0ms));
  EXPECT_EQ(rooms_after({9ms, 0ms, 0ms}), (Rooms{0, 1, 1}));
}

TEST_F(GivenTasksOfAnn, WhoGivesNothingBackHoldsNothingAhead) {
  rooms_after(std::vector<Duration>(10, 0ms));
  given_.set_gives_back(ann, false);
  EXPECT_EQ(given_.room_ahead(ann), 0u);
}

}  // namespace
}  // namespace px::controller
