#include "cluster/supervise/left_session.hpp"

#include <gtest/gtest.h>

namespace px::cluster {
namespace {

TEST(LeftSession, GoesOnAsLongAsOneOfItsMembersLives) {
  LeftSession left{{{11, "boot:5"}, {12, "boot:6"}}};
  EXPECT_TRUE(left.goes_on({{12, "boot:6"}, {13, "boot:80"}}));
  EXPECT_TRUE(left.goes_on({{13, "boot:80"}}));  // a child of one of them
}

TEST(LeftSession, IsNotTheNextOneOfItsNumber) {
  LeftSession left{{{11, "boot:5"}}};
  EXPECT_FALSE(left.goes_on({{11, "boot:900"}, {12, "boot:901"}}));
  EXPECT_FALSE(left.goes_on({{11, "boot:5"}})) << "all had ended before";
}

TEST(LeftSession, ThatIsEmptyIsOver) {
  LeftSession left{{}};
  EXPECT_FALSE(left.goes_on({{12, "boot:6"}}));
}

}  // namespace
}  // namespace px::cluster
