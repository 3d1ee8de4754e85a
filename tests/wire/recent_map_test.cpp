#include "wire/recent_map.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <string>

namespace px {
namespace {

/// Few homes, so that keys collide and wrap around the end of the table.
struct Crowded {
  std::size_t operator()(int key) const { return static_cast<std::size_t>(key) * 61 % 5 + 61; }
};
struct Spread {
  std::size_t operator()(int key) const {
    return static_cast<std::size_t>(key) * 0x9e3779b97f4a7c15u >> 20;
  }
};

TEST(RecentMap, FindsWhatWasAdded) {
  RecentMap<int, std::string, Spread> map{4};
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_TRUE(map.add(1, "one"));
  ASSERT_NE(map.find(1), nullptr);
  EXPECT_EQ(*map.find(1), "one");
  EXPECT_EQ(map.find(2), nullptr);
}

TEST(RecentMap, ReplacesTheValueOfAKeyThatIsThere) {
  RecentMap<int, std::string, Spread> map{4};
  map.add(1, "one");
  EXPECT_FALSE(map.add(1, "uno"));
  EXPECT_EQ(*map.find(1), "uno");
  EXPECT_EQ(map.size(), 1u);
}

TEST(RecentMap, ForgetsTheOldestWhenItIsFull) {
  RecentMap<int, int, Spread> map{3};
  for (int i = 0; i < 3; ++i) map.add(i, i);
  map.add(0, 10);  // does not make it younger
  EXPECT_TRUE(map.add(3, 3));
  EXPECT_EQ(map.size(), 3u);
  EXPECT_EQ(map.find(0), nullptr);
  for (int i = 1; i < 4; ++i) EXPECT_NE(map.find(i), nullptr) << i;
}

TEST(RecentMap, MayHoldOneKeyOnly) {
  RecentMap<int, int, Spread> map{1};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(map.add(i, i));
    EXPECT_EQ(map.find(i - 1), nullptr);
    EXPECT_NE(map.find(i), nullptr);
  }
}

/// The same calls on a map and on the plainest thing that does the same.
template <class Hash>
void compare_with_model(std::size_t capacity, int key_count) {
  RecentMap<int, int, Hash> map{capacity};
  std::map<int, int> model;
  std::deque<int> order;
  std::mt19937 random{7};
  for (int i = 0; i < 20000; ++i) {
    const int key = static_cast<int>(random() % static_cast<unsigned>(key_count));
    const bool is_new = model.insert_or_assign(key, i).second;
    if (is_new) order.push_back(key);
    if (order.size() > capacity) {
      model.erase(order.front());
      order.pop_front();
    }
    ASSERT_EQ(map.add(key, i), is_new);
    ASSERT_EQ(map.size(), model.size());
    const int probe = static_cast<int>(random() % static_cast<unsigned>(key_count));
    const auto expected = model.find(probe);
    const int* const found = map.find(probe);
    ASSERT_EQ(found != nullptr, expected != model.end());
    if (found) {
      ASSERT_EQ(*found, expected->second);
    }
  }
}

TEST(RecentMap, AgreesWithAModelWhereKeysCollide) {
  compare_with_model<Crowded>(30, 60);
}
TEST(RecentMap, AgreesWithAModelWhileItGrows) {
  compare_with_model<Spread>(1000, 4000);
}

}  // namespace
}  // namespace px
