#include "controller/setup/descriptor_plan.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

TEST(DescriptorPlan, WhoHasShownNoKeyGetsASmallPartOfFewAndNoMoreOfMany) {
  const DescriptorPlan few{256}, many{1 << 20};
  EXPECT_EQ(few.lifelines().max_unidentified, 16U);
  EXPECT_EQ(few.streams().most_single, 16U);
  EXPECT_EQ(few.streams().most_paired, 16U);
  EXPECT_EQ(few.doors().count, 16U);
  EXPECT_EQ(many.lifelines().max_unidentified, net::LifelineLimits{}.max_unidentified);
  EXPECT_EQ(many.streams().most_single, net::StreamLimits{}.most_single);
  EXPECT_EQ(many.streams().most_paired, net::StreamLimits{}.most_paired);
  EXPECT_EQ(many.doors().count, net::HandshakeLimiter::Bounds{}.count);
}

TEST(DescriptorPlan, OneMoreMayComeAsLongAsWhatIsKeptStays) {
  const DescriptorPlan plan{256};
  EXPECT_EQ(plan.kept(), 32U);
  EXPECT_EQ(plan.why_not("a client", 7, 39), std::nullopt);
  EXPECT_EQ(plan.why_not("a client", 7, 38),
            "a client takes 7 file descriptors of the controller, which has 38 of 256 left and "
            "keeps 32 for connected programs: close other clients, or raise its limit "
            "(ulimit -n, or nofile in /etc/security/limits.conf) and start the cluster again");
}

TEST(DescriptorPlan, AControllerThatMayOpenManyKeepsNoMoreThanItCanNeed) {
  EXPECT_EQ(DescriptorPlan{1 << 20}.kept(), 512U);
}

}  // namespace
}  // namespace px::controller
