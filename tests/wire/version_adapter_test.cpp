#include "wire/version_adapter.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

struct Message {
  std::string msg_type;
  Json content;
  bool operator==(const Message&) const = default;
};

Message modern(std::string_view msg_type, Json content, std::string_view version = "4.1") {
  Header header{.msg_id = MessageId{"i"},
                .msg_type = std::string(msg_type),
                .username = "",
                .session = {},
                .date = "",
                .version = std::string(version)};
  modernize(header, content);
  EXPECT_TRUE(header.version.starts_with("5") || version.starts_with("x"));
  return {header.msg_type, content};
}

TEST(VersionAdapter, AMessageWithoutAVersionOrWithFourIsOld) {
  const auto with = [](std::string_view version) {
    Header header;
    header.version = version;
    return header;
  };
  for (const std::string_view old : {"", "4", "4.0", "4.1"}) EXPECT_TRUE(is_old_message(with(old)));
  for (const std::string_view today : {"5", "5.0", "5.4", "6.0", "41.0", "x"})
    EXPECT_FALSE(is_old_message(with(today))) << today;
}

TEST(VersionAdapter, LeavesTodaysMessagesAlone) {
  const Json content{{"data", "hi"}};
  EXPECT_EQ(modern("stream", content, "5.0"), (Message{"stream", content}));
  EXPECT_EQ(modern("pyout", content, "5.4"), (Message{"pyout", content}));
}

TEST(VersionAdapter, AStreamsDataIsItsText) {
  EXPECT_EQ(modern("stream", {{"name", "stdout"}, {"data", "hi"}}, ""),
            (Message{"stream", {{"name", "stdout"}, {"text", "hi"}}}));
}

TEST(VersionAdapter, OldNamesBecomeTodays) {
  const Json content{{"data", {{"text/plain", "42"}}}};
  EXPECT_EQ(modern("pyout", content), (Message{"execute_result", content}));
  EXPECT_EQ(modern("pyin", content), (Message{"execute_input", content}));
  EXPECT_EQ(modern("pyerr", content), (Message{"error", content}));
  EXPECT_EQ(modern("object_info_reply", content).msg_type, "inspect_reply");
}

TEST(VersionAdapter, UserVariablesBecomeExpressions) {
  EXPECT_EQ(modern("execute_request", {{"code", "1"}, {"user_variables", {"a", "b"}}}),
            (Message{"execute_request",
                     {{"code", "1"}, {"user_expressions", {{"a", "a"}, {"b", "b"}}}}}));
  EXPECT_EQ(
      modern("execute_reply",
             {{"user_variables", {{"a", 1}}},
              {"payload", {{{"source", "page"}, {"text", "help"}}, {{"source", "other"}}}}}),
      (Message{
          "execute_reply",
          {{"user_expressions", {{"a", 1}}},
           {"payload",
            {{{"source", "page"}, {"data", {{"text/plain", "help"}}}}, {{"source", "other"}}}}}}));
}

TEST(VersionAdapter, CompletionIsAskedByCodeAndCursor) {
  EXPECT_EQ(modern("complete_request", {{"line", "imp"}, {"text", "imp"}, {"cursor_pos", 3}}),
            (Message{"complete_request", {{"code", "imp"}, {"cursor_pos", 3}}}));
}

TEST(VersionAdapter, AMatchIsToldRelativeToTheCursor) {
  EXPECT_EQ(
      modern("complete_reply", {{"matches", {"\u00fcber"}}, {"matched_text", "\u00fcb"}}).content,
      (Json{{"status", "ok"},
            {"matches", {"\u00fcber"}},
            {"cursor_start", -2},
            {"cursor_end", nullptr},
            {"metadata", Json::object()}}));
  EXPECT_EQ(modern("complete_reply", {{"matches", Json::array()}, {"matched_text", ""}})
                .content.at("cursor_start"),
            Json(nullptr));
}

TEST(VersionAdapter, AnInspectionNamesItsObjectByCode) {
  EXPECT_EQ(
      modern("object_info_request", {{"oname", "len"}, {"detail_level", 1}}),
      (Message{"inspect_request", {{"code", "len"}, {"cursor_pos", 3}, {"detail_level", 1}}}));
}

TEST(VersionAdapter, JsonToDisplayIsNoLongerText) {
  EXPECT_EQ(modern("display_data",
                   {{"source", "display"}, {"data", {{"application/json", "{\"a\": 1}"}}}}),
            (Message{"display_data", {{"data", {{"application/json", {{"a", 1}}}}}}}));
  EXPECT_EQ(
      modern("display_data", {{"data", {{"application/json", "no json"}}}}).content.at("data"),
      (Json{{"application/json", "no json"}}));
}

TEST(VersionAdapter, TakesAnyShapeOfContent) {
  for (const std::string_view type :
       {"stream", "display_data", "execute_request", "execute_reply", "complete_request",
        "complete_reply", "object_info_request", "input_request", "unknown"})
    for (const Json& content : {Json::object(), Json(nullptr), Json::array({1}),
                                Json{{"data", 1}, {"payload", {1, "x"}}, {"user_variables", 3}}})
      modern(type, content);
}

}  // namespace
}  // namespace px
