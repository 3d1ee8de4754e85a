#include <gtest/gtest.h>

#include "wire/message_type.hpp"

namespace px {
namespace {

TEST(MessageType, TheReplyHasTheNameOfTheRequest) {
  EXPECT_EQ(reply_type("execute_request"), "execute_reply");
  EXPECT_EQ(method_of("call_request"), "call");
  EXPECT_EQ(method_of("comm_open"), "comm_open");
}

TEST(MessageType, ThreeRequestsAreOurs) {
  for (const char* type : {"push_request", "pull_request", "call_request"})
    EXPECT_TRUE(is_native_request(type)) << type;
  EXPECT_FALSE(is_native_request("apply_request"));
  EXPECT_FALSE(is_native_request("call_reply"));
}

}  // namespace
}  // namespace px
