#include "controller/web/viewers.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + 1h + time;
}

SharedText text(const std::string& content) {
  return std::make_shared<const std::string>(content);
}

/// Whose header is written.
int reading_viewer(Viewers& viewers) {
  const auto viewer = viewers.add(nullptr, at(0s));
  EXPECT_TRUE(viewer);
  EXPECT_EQ(viewers.written(*viewer, at(0s)), nullptr);
  return *viewer;
}

TEST(Viewers, EachViewerThatReadsGetsTheSameBytes) {
  Viewers viewers{{}};
  const int ann = reading_viewer(viewers), bob = reading_viewer(viewers);
  const SharedText first = text("first");
  const auto sendings = viewers.publish(first, at(1s));
  ASSERT_EQ(sendings.size(), 2u);
  EXPECT_EQ(sendings[0].viewer, ann);
  EXPECT_EQ(sendings[1].viewer, bob);
  EXPECT_EQ(sendings[0].text, first);
  EXPECT_EQ(sendings[1].text, first);
  EXPECT_EQ(viewers.written(ann, at(1s)), nullptr);
}

TEST(Viewers, ASlowViewerGetsTheNewestTextWhenItHasReadTheOneBefore) {
  Viewers viewers{{}};
  const int ann = reading_viewer(viewers);
  EXPECT_EQ(viewers.publish(text("first"), at(1s)).size(), 1u);
  EXPECT_TRUE(viewers.publish(text("missed"), at(2s)).empty());
  EXPECT_TRUE(viewers.publish(text("newest"), at(3s)).empty());
  EXPECT_EQ(*viewers.written(ann, at(4s)), "newest");
  EXPECT_EQ(viewers.written(ann, at(5s)), nullptr);
  EXPECT_EQ(viewers.publish(text("next"), at(6s)).size(), 1u);
}

TEST(Viewers, ATextThatComesWhileTheHeaderIsWrittenFollowsIt) {
  Viewers viewers{{}};
  const auto ann = viewers.add(nullptr, at(0s));
  ASSERT_TRUE(ann);
  EXPECT_TRUE(viewers.publish(text("first"), at(1s)).empty());
  EXPECT_EQ(*viewers.written(*ann, at(1s)), "first");
}

TEST(Viewers, WhatIsThereAlreadyFollowsTheHeaderAndNothingIsSentBesides) {
  Viewers viewers{{}};
  const auto ann = viewers.add(text("old"), at(0s)), bob = viewers.add(text("old"), at(0s));
  ASSERT_TRUE(ann && bob);
  EXPECT_EQ(*viewers.written(*ann, at(1s)), "old");
  EXPECT_TRUE(viewers.publish(text("new"), at(2s)).empty());  // ann's old one is on its way
  EXPECT_EQ(*viewers.written(*ann, at(3s)), "new");
  EXPECT_EQ(*viewers.written(*bob, at(3s)), "new");
}

TEST(Viewers, AViewerThatReadsNothingForTheWholePatienceIsDropped) {
  Viewers viewers{{.most = 2, .patience = 10s}};
  const int ann = reading_viewer(viewers), bob = reading_viewer(viewers);
  viewers.publish(text("first"), at(0s));
  viewers.written(bob, at(1s));
  viewers.publish(text("second"), at(5s));  // waits for ann, whose first text counts
  EXPECT_TRUE(viewers.expire(at(9s)).empty());
  EXPECT_EQ(viewers.expire(at(10s)), std::vector{ann});
  EXPECT_EQ(viewers.written(ann, at(11s)), nullptr);
  EXPECT_EQ(viewers.written(bob, at(11s)), nullptr);
  EXPECT_FALSE(viewers.is_empty());
}

TEST(Viewers, AViewerForWhomThereIsNothingStays) {
  Viewers viewers{{.most = 2, .patience = 10s}};
  reading_viewer(viewers);
  EXPECT_TRUE(viewers.expire(at(1h)).empty());
}

TEST(Viewers, OneMoreThanTheBoundIsRefusedUntilOneHasGone) {
  Viewers viewers{{.most = 2, .patience = 10s}};
  const int ann = reading_viewer(viewers);
  reading_viewer(viewers);
  EXPECT_FALSE(viewers.add(nullptr, at(0s)));
  viewers.remove(ann);
  EXPECT_TRUE(viewers.add(nullptr, at(0s)));
}

}  // namespace
}  // namespace px::controller
