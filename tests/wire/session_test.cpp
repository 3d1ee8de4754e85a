#include "wire/session.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "wire/envelope.hpp"

namespace px {
namespace {

const WallTime now{std::chrono::seconds(1795248309)};

Session new_session(Packer packer = Packer::json) {
  return {SessionId{"s"}, "alice", packer, *Signer::create("hmac-sha256", "key")};
}

TEST(Session, NumbersItsMessages) {
  Session session = new_session();
  const std::string prefix = "s_" + std::to_string(::getpid()) + "_";
  EXPECT_EQ(session.make_header("a", now).msg_id.text, prefix + "0");
  EXPECT_EQ(session.make_header("b", now).msg_id.text, prefix + "1");
}

TEST(Session, DatesItsMessagesWithTheTimeItIsGiven) {
  EXPECT_EQ(new_session().make_header("a", now).date, "2026-11-21T08:05:09Z");
}

TEST(Session, ForksNeverShareAMessageId) {
  Session session = new_session();
  Session first = session.fork();
  Session second = session.fork();
  Session third = first.fork();
  std::set<std::string> ids;
  for (Session* each : {&session, &first, &second, &third})
    for (int i = 0; i < 10; ++i) ids.insert(each->make_header("a", now).msg_id.text);
  EXPECT_EQ(ids.size(), 40u);
}

TEST(Session, MessageIdsTellWhichOfTheSameSessionIsTheLaterOne) {
  Session session = new_session();
  std::vector<MessageId> ids;
  for (int i = 0; i < 11; ++i) ids.push_back(session.make_header("a", now).msg_id);
  EXPECT_TRUE(was_made_after(ids[10], ids[9]));
  EXPECT_FALSE(was_made_after(ids[9], ids[10]));
  EXPECT_FALSE(was_made_after(ids[9], ids[9]));
  EXPECT_TRUE(was_made_after(MessageId{ids[10].text + "_engine-uuid"}, ids[9]));
}

TEST(Session, OfOtherMessageIdsNoneIsTheLaterOne) {
  Session session = new_session();
  const MessageId ours = session.make_header("a", now).msg_id;
  EXPECT_FALSE(was_made_after(session.fork().make_header("a", now).msg_id, ours));
  for (const char* other : {"", "t_1_7", "0cc7f2d5-1c7c-4b2f-9d0d-4f3a5a1b2c3d", "s_", "_9"}) {
    EXPECT_FALSE(was_made_after(MessageId{other}, ours)) << other;
    EXPECT_FALSE(was_made_after(ours, MessageId{other})) << other;
  }
}

TEST(Session, ComposesWhatTheOtherSideVerifiesAndReads) {
  for (const Packer packer : {Packer::json, Packer::msgpack}) {
    Session session = new_session(packer);
    const TextFrames frames{session.compose({.idents = {"client", "more"},
                                             .msg_type = "reply",
                                             .metadata = {{"m", 1}},
                                             .content = {{"c", "\u00fc"}},
                                             .buffers = {"buffer", ""}},
                                            now)};
    const Envelope e = *Envelope::locate(frames);
    EXPECT_TRUE(session.signer().verify(e));
    EXPECT_EQ(frames.at(0), "client");
    EXPECT_EQ(e.ident_count, 2u);
    EXPECT_EQ(read_header(packer, e.header)->msg_type, "reply");
    EXPECT_EQ(*unpack(packer, e.parent_header), Json::object());
    EXPECT_EQ(*unpack(packer, e.metadata), (Json{{"m", 1}}));
    EXPECT_EQ(*unpack(packer, e.content), (Json{{"c", "\u00fc"}}));
    ASSERT_EQ(frames.size() - e.first_buffer, 2u);
    EXPECT_EQ(frames.at(e.first_buffer), "buffer");
  }
}

TEST(Session, CarriesTheParentHeaderByteForByte) {
  Session session = new_session();
  const TextFrames frames{
      session.compose({.msg_type = "reply", .parent_header = "{\"odd\" :  1}"}, now)};
  EXPECT_EQ(Envelope::locate(frames)->parent_header, "{\"odd\" :  1}");
}

TEST(Session, AnErrorHasTheMembersThatClientsRead) {
  const Json content = error_content("ValueError", "bad", {"line 1"}, {{"engine_id", 3}});
  EXPECT_EQ(content, (Json{{"status", "error"},
                           {"ename", "ValueError"},
                           {"evalue", "bad"},
                           {"traceback", {"line 1"}},
                           {"engine_info", {{"engine_id", 3}}}}));
  EXPECT_TRUE(error_content("E", "").at("traceback").is_array());
}

TEST(Session, IdsAndKeysAreNew) {
  const std::string id = new_session_id();
  ASSERT_EQ(id.size(), 33u);
  EXPECT_EQ(id[8], '-');
  EXPECT_EQ(id.find_first_not_of("0123456789abcdef-"), std::string::npos);
  EXPECT_NE(new_session_id(), id);
  EXPECT_EQ(new_key().size(), 64u);
  EXPECT_NE(new_key(), new_key());
}

}  // namespace
}  // namespace px
