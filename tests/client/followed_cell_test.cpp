#include "client/records/followed_cell.hpp"

#include <gtest/gtest.h>

namespace px::client {
namespace {

Json stream(const std::string& text, const std::string& name = "stdout") {
  return {{"name", name}, {"text", text}};
}

Json item(const std::string& type, const Json& content = Json::object()) {
  return Json::array({type, content});
}

/// The `output` of a usage_reply.
Json told(int from, const std::vector<Json>& items) {
  return {{"from", from}, {"published", items}};
}

std::string words(const std::vector<Publication>& publications) {
  std::string text;
  for (const Publication& each : publications)
    text += each.type + "(" + each.content.value("text", "") + ")";
  return text;
}

TEST(FollowedOutput, AsksForWhatFollowsWhatItHas) {
  FollowedOutput output;
  EXPECT_EQ(output.next(), 0u);
  EXPECT_EQ(words(output.take(told(0, {item("stream", stream("a\n")), item("display_data")}))),
            "stream(a\n)display_data()");
  EXPECT_EQ(output.next(), 2u);
  EXPECT_EQ(words(output.take(told(2, {}))), "");
  EXPECT_EQ(output.next(), 2u);
}

TEST(FollowedOutput, SaysHowMuchTheEngineHasDropped) {
  FollowedOutput output;
  EXPECT_EQ(words(output.take(told(3, {item("stream", stream("d"))}))),
            "stream((the engine no longer has the first 3 outputs of this cell)\n)stream(d)");
  EXPECT_EQ(output.next(), 4u);
}

TEST(FollowedOutput, ARecordAddsWhatTheEngineHadNotToldBeforeItDied) {
  FollowedOutput output;
  output.take(told(0, {item("stream", stream("one\n")), item("error")}));
  std::vector<Publication> recorded{{"stream", stream("one\ntwo\n"), Json::object(), {}},
                                    {"stream", stream("oh", "stderr"), Json::object(), {}},
                                    {"error", Json::object(), Json::object(), {}},
                                    {"execute_result", Json::object(), Json::object(), {}}};
  EXPECT_EQ(words(output.rest(std::move(recorded))), "stream(two\n)stream(oh)execute_result()");
}

TEST(FollowedOutput, IgnoresWhatIsMalformed) {
  FollowedOutput output;
  EXPECT_EQ(words(output.take(told(-1, {3, Json::array({"stream"}), Json::array({1, 2})}))), "");
  EXPECT_EQ(words(output.take("nonsense")), "");
}

}  // namespace
}  // namespace px::client
