#include "wire/header.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

Header a_header() {
  return {.msg_id = MessageId{"s_1_0"},
          .msg_type = "apply_request",
          .username = "alice",
          .session = SessionId{"s"},
          .date = "2026-11-21T08:05:09.467893Z",
          .version = "5.4"};
}

void expect_equal(const Header& a, const Header& b) {
  EXPECT_EQ(a.msg_id, b.msg_id);
  EXPECT_EQ(a.msg_type, b.msg_type);
  EXPECT_EQ(a.username, b.username);
  EXPECT_EQ(a.session, b.session);
  EXPECT_EQ(a.date, b.date);
  EXPECT_EQ(a.version, b.version);
}

TEST(Header, SurvivesEachPacker) {
  for (const Packer packer : {Packer::json, Packer::msgpack}) {
    Header header = a_header();
    expect_equal(*read_header(packer, write_header(packer, header)), header);
    header.username = "Zo\u00eb \"the\\ \n first\" \x01";
    expect_equal(*read_header(packer, write_header(packer, header)), header);
  }
}

TEST(Header, IsWrittenAsPythonWritesIt) {
  EXPECT_EQ(write_header(Packer::json, a_header()),
            R"({"msg_id": "s_1_0", "msg_type": "apply_request", "username": "alice", )"
            R"("session": "s", "date": "2026-11-21T08:05:09.467893Z", "version": "5.4"})");
}

TEST(Header, IsReadInAnyOrderAndWithUnknownKeys) {
  const auto header = read_header(
      Packer::json,
      R"({"x": {"msg_id": "no"}, "version": "5.3", "msg_type": "m", "msg_id": "i", "date": 3})");
  ASSERT_TRUE(header);
  EXPECT_EQ(header->msg_id.text, "i");
  EXPECT_EQ(header->version, "5.3");
  EXPECT_EQ(header->date, "");
  EXPECT_EQ(header->username, "");
}

TEST(Header, NeedsItsIdAndItsType) {
  for (const std::string_view text :
       {"{}", R"({"msg_id": "i"})", R"({"msg_type": "m"})", R"({"msg_id": 1, "msg_type": "m"})",
        R"({"msg_id": "", "msg_type": "m"})", R"({"msg_id": null, "msg_type": "m"})"})
    EXPECT_FALSE(read_header(Packer::json, text)) << text;
}

TEST(Header, IsNotReadFromGarbage) {
  for (const std::string_view text : {"", "null", "[]", "{\"msg_id\": ", "\xff\xfe", "{}{}"}) {
    EXPECT_FALSE(read_header(Packer::json, text)) << text;
    EXPECT_FALSE(read_header(Packer::msgpack, text)) << text;
  }
}

TEST(MessageIdOfAParent, IsEmptyWhereThereIsNone) {
  for (const Packer packer : {Packer::json, Packer::msgpack}) {
    EXPECT_TRUE(read_msg_id(packer, pack(packer, Json::object())).empty());
    EXPECT_TRUE(read_msg_id(packer, "garbage").empty());
    EXPECT_EQ(read_msg_id(packer, write_header(packer, a_header())).text, "s_1_0");
  }
}

TEST(MessageName, IsThatOfTheHeader) {
  for (const Packer packer : {Packer::json, Packer::msgpack}) {
    const MessageName name = read_message_name(packer, write_header(packer, a_header()));
    EXPECT_EQ(name.msg_id.text, "s_1_0");
    EXPECT_EQ(name.msg_type, "apply_request");
  }
}

TEST(MessageName, IsEmptyWhereTheHeaderHasNone) {
  for (const Packer packer : {Packer::json, Packer::msgpack})
    for (const std::string& packed : {pack(packer, Json{{"msg_id", 3}}), std::string("garbage")}) {
      const MessageName name = read_message_name(packer, packed);
      EXPECT_TRUE(name.msg_id.empty());
      EXPECT_EQ(name.msg_type, "");
    }
  EXPECT_TRUE(read_message_name(Packer::json, R"({"msg_id": "s", )").msg_id.empty());
}

}  // namespace
}  // namespace px
