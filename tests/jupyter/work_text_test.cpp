#include "jupyter/work_text.hpp"

#include <gtest/gtest.h>

#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

std::string described(std::string_view type, const Json& content, std::string_view header = {}) {
  Request request = *testing::Sender().request(type, content);
  if (!header.empty()) request.envelope.header = header;
  return describe_work(request);
}

Json call_of(std::string_view name) {
  return {{"function", {{"name", name}}}};
}

TEST(WorkText, IsTheFirstLineOfACell) {
  EXPECT_EQ(described("execute_request", {{"code", "\n  x = 1\ny = 2"}}), "x = 1");
  EXPECT_EQ(described("execute_request", {{"code", " \n"}}), "execute");
}

TEST(WorkText, IsTheTitleOrTheNameOfAFunction) {
  EXPECT_EQ(described("call_request", call_of("simulate")), "simulate");
  EXPECT_EQ(described("call_request", {{"title", "step 3"}, {"function", {{"name", "f"}}}}),
            "step 3");
  EXPECT_EQ(described("push_request", Json::object()), "push");
}

TEST(WorkText, IsCutBetweenTwoCharacters) {
  EXPECT_EQ(described("execute_request", {{"code", std::string(80, 'x')}}), std::string(80, 'x'));
  EXPECT_EQ(described("execute_request", {{"code", std::string(76, 'x') + "\u00fc\u00fc\u00fc"}}),
            std::string(76, 'x') + "...");
}

TEST(WorkText, NamesTheRanksOfATaskOfSeveralRanks) {
  EXPECT_EQ(described("call_request", call_of("simulate"),
                      R"({"gang": {"engines": ["a", "b", "c"], "ranks": [0, 2, 3]}})"),
            "simulate on ranks 0, 2, 3");
  EXPECT_EQ(described("call_request", call_of("simulate"), R"({"gang": {"ranks": "all"}})"),
            "simulate");
  EXPECT_EQ(described("call_request", call_of("gang"), R"({"msg_type": "call_request"})"), "gang");
}

}  // namespace
}  // namespace px::jupyter
