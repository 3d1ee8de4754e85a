#include "jupyter/kept_output.hpp"

#include <gtest/gtest.h>

#include "tests/wire/requests.hpp"

namespace px::jupyter {
namespace {

class KeptOutputTest : public ::testing::Test {
 protected:
  RequestPtr cell(const Json& label, std::string_view type = "execute_request") {
    const RequestPtr request =
        sender_.request(type, Json::object(), Channel::shell, {{"label", label}});
    kept_.begin(*request);
    return request;
  }

  void print(const RequestPtr& cell, const std::string& text) {
    kept_.add(cell->header.msg_id, "stream", Json{{"name", "stdout"}, {"text", text}}.dump());
  }

  /// The texts, and the reply if there is one.
  std::string told(const RequestPtr& cell, std::size_t from = 0) {
    const Json answer = kept_.answer({{"msg_id", cell->header.msg_id.text}, {"from", from}});
    if (answer.is_null()) return "nothing";
    std::string text = std::to_string(answer["from"].get<std::size_t>()) + ":";
    for (const Json& item : answer["published"])
      text += " " + item[1].value("text", item[0].get<std::string>());
    return text + (answer.contains("reply") ? " = " + answer["reply"].dump() : "");
  }

  testing::Sender sender_;
  KeptOutput kept_;
};

TEST_F(KeptOutputTest, TellsWhatFollowsWhatTheClientHas) {
  const RequestPtr cell = this->cell("story:1");
  EXPECT_EQ(told(cell), "0:");
  print(cell, "one");
  kept_.add(cell->header.msg_id, "display_data", "{}");
  EXPECT_EQ(told(cell), "0: one display_data");
  print(cell, "two");
  EXPECT_EQ(told(cell, 2), "2: two");
  EXPECT_EQ(told(cell, 3), "3:");
  kept_.end(cell->header.msg_id, R"({"status":"ok"})");
  EXPECT_EQ(told(cell, 3), R"(3: = {"status":"ok"})");
}

TEST_F(KeptOutputTest, FindsTheLatestCellOfASessionByItsLabel) {
  const RequestPtr first = cell("story:1"), other = cell("story:2"), again = cell("story:1");
  const Json wish{{"session", "cli"}, {"label", "story:1"}};
  EXPECT_EQ(kept_.answer(wish)["msg_id"], again->header.msg_id.text);
  EXPECT_TRUE(kept_.answer({{"session", "another"}, {"label", "story:1"}}).is_null());
  EXPECT_TRUE(kept_.answer({{"label", "story:3"}}).is_null());
  EXPECT_TRUE(kept_.answer(Json::object()).is_null());
}

TEST_F(KeptOutputTest, KeepsNeitherUnlabelledCellsNorCallsNorMessagesOfWidgets) {
  const RequestPtr unlabelled = cell(nullptr), call = cell("x", "call_request"), kept = cell("x");
  for (const RequestPtr& each : {unlabelled, call}) print(each, "text");
  kept_.add(kept->header.msg_id, "comm_open", "{}");
  EXPECT_EQ(told(unlabelled), "nothing");
  EXPECT_EQ(told(call), "nothing");
  EXPECT_EQ(told(kept), "0:");
}

TEST_F(KeptOutputTest, DropsTheOldestCellAndTheOldestOutput) {
  const RequestPtr oldest = cell("x");
  for (std::size_t i = 1; i < KeptOutput::most_cells; ++i) cell("x");
  EXPECT_EQ(told(oldest), "0:");
  const RequestPtr latest = cell("x");
  EXPECT_EQ(told(oldest), "nothing");
  const std::string long_text(KeptOutput::most_bytes - 1000, 'x');
  print(latest, "lost");
  print(latest, long_text);
  print(latest, std::string(1000, 'y'));
  EXPECT_EQ(told(latest).substr(0, 5), "2: yy");
}

TEST_F(KeptOutputTest, CutsALongAnswerAndGivesTheReplyWithItsLastPart) {
  const RequestPtr cell = this->cell("x");
  print(cell, std::string(KeptOutput::most_answer_bytes, 'x'));
  print(cell, "end");
  kept_.end(cell->header.msg_id, "{}");
  EXPECT_EQ(told(cell).find('='), std::string::npos);
  EXPECT_EQ(told(cell, 1), "1: end = {}");
}

}  // namespace
}  // namespace px::jupyter
