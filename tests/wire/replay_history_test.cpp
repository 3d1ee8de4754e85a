#include "wire/replay_history.hpp"

#include <gtest/gtest.h>

#include "wire/signature.hpp"

namespace px {
namespace {

std::string signature(int number) {
  static const Signer signer = *Signer::create("hmac-sha256", "key");
  return signer.sign(std::to_string(number), "", "", "");
}

TEST(ReplayHistory, DropsARepeat) {
  ReplayHistory history;
  EXPECT_TRUE(history.is_new(signature(1)));
  EXPECT_TRUE(history.is_new(signature(2)));
  EXPECT_FALSE(history.is_new(signature(1)));
  EXPECT_FALSE(history.is_new(signature(2)));
}

TEST(ReplayHistory, TakesEveryUnsignedMessage) {
  ReplayHistory history;
  EXPECT_TRUE(history.is_new(""));
  EXPECT_TRUE(history.is_new(""));
  EXPECT_EQ(history.size(), 0u);
}

TEST(ReplayHistory, ForgetsTheOldestWhenItIsFull) {
  ReplayHistory history{3};
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(history.is_new(signature(i)));
  EXPECT_EQ(history.size(), 3u);
  for (int i = 1; i < 4; ++i) EXPECT_FALSE(history.is_new(signature(i)));
  EXPECT_TRUE(history.is_new(signature(0)));
  EXPECT_TRUE(history.is_new(signature(1)));
}

TEST(ReplayHistory, RemembersAsManyAsTheReference) {
  ReplayHistory history;
  for (int i = 0; i < 65536; ++i) history.is_new(signature(i));
  EXPECT_FALSE(history.is_new(signature(0)));
  for (int i = 65536; i < 70000; ++i) EXPECT_TRUE(history.is_new(signature(i)));
  EXPECT_EQ(history.size(), 65536u);
}

}  // namespace
}  // namespace px
