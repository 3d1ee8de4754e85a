#include <gtest/gtest.h>

#include "client/error.hpp"
#include "client/requests/incoming.hpp"

namespace px::client {
namespace {

Failure failure(int engine, std::string value) {
  return {"NameError", std::move(value), {}, EngineId{engine}, "pull"};
}

TEST(CompositeError, NamesAnEqualFailureOnceWithItsEngines) {
  const CompositeError error{{failure(1, "no x"), failure(2, "no x"), failure(0, "no x")}};
  EXPECT_STREQ(error.what(), "3 requests failed: [0-2:pull] NameError: no x");
  EXPECT_EQ(error.failures().size(), 3U);
}

TEST(CompositeError, NamesAnEngineOnceForAllItsRequests) {
  const CompositeError error{{failure(1, "no x"), failure(1, "no x"), failure(2, "no y")}};
  EXPECT_STREQ(error.what(),
               "3 requests failed: [1:pull] NameError: no x; [2:pull] NameError: no y");
}

TEST(CompositeError, CountsWhatItDoesNotName) {
  std::vector<Failure> failures;
  for (int i = 0; i < 6; ++i) failures.push_back(failure(i, std::to_string(i)));
  EXPECT_STREQ(CompositeError{failures}.what(),
               "6 requests failed: [0:pull] NameError: 0; [1:pull] NameError: 1; "
               "[2:pull] NameError: 2; [3:pull] NameError: 3; and 2 more");
}

TEST(CompositeError, NamesFailuresOfTheQueueWithoutAnEngine) {
  const CompositeError error{{{"Overloaded", "wait", {}, {}, ""}}};
  EXPECT_STREQ(error.what(), "1 request failed: Overloaded: wait");
}

TEST(Failure, KeepsWhatTheEngineSaysOfItsClass) {
  const Json said = {{"classes", {"builtins:ValueError"}}};
  const Json content = {{"status", "error"}, {"ename", "ValueError"}, {"exception", said}};
  EXPECT_EQ(read_failure(content, {}).exception, said);
  EXPECT_TRUE(read_failure({{"status", "error"}, {"exception", 5}}, {}).exception.empty());
}

TEST(RemoteError, SaysWhereItWas) {
  EXPECT_STREQ(RemoteError{failure(3, "no x")}.what(), "[3:pull] NameError: no x");
}

}  // namespace
}  // namespace px::client
