#include "wire/engine_end.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

TEST(EngineEnd, NamesTheEngineItsHostTheTaskAndTheReason) {
  EXPECT_EQ(death_sentence(make_engine_end(EngineId{3}, "host2", "its process ended"), "m_1"),
            "Engine 3 on host2 died while running task 'm_1': its process ended");
}

TEST(EngineEnd, LeavesOutWhatNobodyKnows) {
  EXPECT_EQ(death_sentence(make_engine_end(EngineId{3}, "", ""), "m_1"),
            "Engine 3 died while running task 'm_1'");
}

}  // namespace
}  // namespace px
