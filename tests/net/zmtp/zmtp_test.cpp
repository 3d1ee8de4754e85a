#include "net/zmtp/zmtp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace px::net {
namespace {

using Texts = std::vector<std::string>;

Texts texts(const SharedFrames& frames) {
  Texts all;
  for (std::size_t i = 0; frames && i < frames->size(); ++i) all.emplace_back(frames->at(i));
  return all;
}

std::string bytes_of(const ZmtpQueue& queue) {
  std::string all;
  for (const std::string_view piece : queue.pieces(1000)) all += piece;
  return all;
}

ZmtpMessage message_of(const Texts& frames) {
  ZmtpMessage message;
  for (std::size_t i = 0; i < frames.size(); ++i) message.add(frames[i], i + 1 < frames.size());
  return message;
}

std::string bytes_of(const Texts& frames) {
  ZmtpQueue queue;
  queue.push(message_of(frames));
  return bytes_of(queue);
}

const std::string handshake = zmtp_greeting() + zmtp_ready("DEALER", "ann");

class Zmtp : public ::testing::Test {
 protected:
  std::optional<ZmtpPeer> peer;
  ZmtpDecoder decoder = limited(-1, 100);

  ZmtpDecoder limited(std::int64_t max_frame_bytes, std::size_t max_frames) {
    return ZmtpDecoder{max_frame_bytes, max_frames, [this](const ZmtpPeer& said) {
                         peer = said;
                         return said.identity != "unwanted";
                       }};
  }
};

TEST_F(Zmtp, ReadsWhatItWritesHoweverItIsCut) {
  const Texts frames{"", "short", std::string(255, 'a'), std::string(256, 'b'),
                     std::string(100000, 'c'), "end"};
  const std::string bytes = handshake + bytes_of(frames) + bytes_of({"second"});
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{5000}, bytes.size()}) {
    ZmtpDecoder each = limited(-1, 100);
    for (std::size_t at = 0; at < bytes.size(); at += size)
      ASSERT_TRUE(each.feed(std::string_view(bytes).substr(at, size))) << size << " at " << at;
    EXPECT_TRUE(each.is_open());
    EXPECT_EQ(texts(each.take()), frames) << size;
    EXPECT_EQ(texts(each.take()), Texts{"second"});
    EXPECT_EQ(each.take(), nullptr);
  }
  EXPECT_EQ(peer->socket_type, "DEALER");
  EXPECT_EQ(peer->identity, "ann");
}

TEST_F(Zmtp, ALongFrameIsReadIntoItsPlace) {
  const std::string body(50000, 'x');
  const std::string bytes = handshake + bytes_of({"head", body, "tail"});
  const std::size_t begun = bytes.find(body) + 10;
  ASSERT_TRUE(decoder.feed(std::string_view(bytes).substr(0, begun)));
  ASSERT_EQ(decoder.target().size(), body.size() - 10);
  std::fill_n(decoder.target().begin(), 40000, 'x');
  decoder.filled(40000);
  std::fill(decoder.target().begin(), decoder.target().end(), 'x');
  decoder.filled(decoder.target().size());
  EXPECT_TRUE(decoder.target().empty());
  ASSERT_TRUE(decoder.feed(std::string_view(bytes).substr(begun + body.size() - 10)));
  EXPECT_EQ(texts(decoder.take()), (Texts{"head", body, "tail"}));
}

TEST_F(Zmtp, ALongLastFrameThatIsReadIntoItsPlaceEndsTheMessage) {
  const std::string bytes = handshake + bytes_of({std::string(50000, 'x')});
  ASSERT_TRUE(decoder.feed(std::string_view(bytes).substr(0, bytes.size() - 1000)));
  std::fill(decoder.target().begin(), decoder.target().end(), 'x');
  decoder.filled(1000);
  EXPECT_EQ(texts(decoder.take()), Texts{std::string(50000, 'x')});
}

TEST_F(Zmtp, BeginsEachMessageWithTheFirstFrame) {
  decoder.set_first_frame("ann");
  ASSERT_TRUE(decoder.feed(handshake + bytes_of({"", "x"})));
  EXPECT_EQ(texts(decoder.take()), (Texts{"ann", "", "x"}));
}

TEST_F(Zmtp, RefusesWhatIsNotZmtp) {
  const std::string good = zmtp_greeting();
  EXPECT_FALSE(limited(-1, 100).feed("GET / HTTP/1.1\r\n" + std::string(64, ' ')));
  std::string old = good, curve = good;
  old[10] = 1;
  curve.replace(12, 5, "CURVE");
  EXPECT_FALSE(limited(-1, 100).feed(old));
  EXPECT_FALSE(limited(-1, 100).feed(curve));
  EXPECT_FALSE(limited(-1, 100).feed(good + bytes_of({"before the handshake"})));
  EXPECT_FALSE(limited(-1, 100).feed(handshake + std::string("\x80\x01x")));
  EXPECT_FALSE(limited(-1, 100).feed(handshake + std::string("\x04\x06\x05" "ERROR")));
  EXPECT_FALSE(limited(-1, 100).feed(handshake + std::string("\x01\x01x\x04\x01x")))
      << "a command within a message";
  EXPECT_FALSE(limited(-1, 100).feed(good + std::string("\x04\x08\x05READY\x7fx")))
      << "a property that is cut off";
  EXPECT_FALSE(limited(-1, 100).feed(good + zmtp_ready("DEALER", "unwanted")));
}

TEST_F(Zmtp, RefusesTooLongFramesBeforeTheyCome) {
  EXPECT_TRUE(limited(1000, 100).feed(handshake + bytes_of({std::string(1000, 'x')})));
  const std::string hostile("\x02\x7f\xff\xff\xff\xff\xff\xff\xff", 9);
  EXPECT_FALSE(limited(1000, 100).feed(handshake + hostile));
  EXPECT_FALSE(limited(-1, 100).feed(handshake + hostile)) << "nobody has so much memory";
}

TEST_F(Zmtp, DropsAndCountsMessagesOfTooManyFrames) {
  ZmtpDecoder each = limited(-1, 3);
  ASSERT_TRUE(each.feed(handshake + bytes_of(Texts(4, std::string(20000, 'x'))) +
                        bytes_of(Texts(4, "x")) + bytes_of({"a", "b", "c"})));
  EXPECT_EQ(texts(each.take()), (Texts{"a", "b", "c"}));
  EXPECT_EQ(each.take_dropped(), 2u);
  EXPECT_EQ(each.take_dropped(), 0u);
}

TEST_F(Zmtp, AnswersPings) {
  const std::string ping("\x04\x0a\x04PING\0\x0a" "abc", 12);
  ASSERT_TRUE(decoder.feed(handshake + ping));
  EXPECT_EQ(decoder.take_pong(), std::string("\x04\x08\x04PONGabc"));
  EXPECT_EQ(decoder.take_pong(), "");
}

TEST(ZmtpQueue, IsWrittenInPieces) {
  ZmtpQueue queue;
  const std::string long_frame(5000, 'x');
  auto owner = std::make_shared<int>();
  ZmtpMessage message;
  message.add("a", true);
  message.add(long_frame, true, owner);
  message.add("b", false, std::make_shared<int>());
  queue.push(std::move(message));
  queue.push(message_of({"c"}));
  const std::string all = bytes_of(queue);
  EXPECT_EQ(all.size(), queue.bytes());
  EXPECT_EQ(queue.pieces(2).size(), 2u);
  EXPECT_EQ(queue.pieces(2)[1].data(), long_frame.data()) << "not copied";
  std::string written;
  while (!queue.is_empty()) {
    const std::string rest = bytes_of(queue);
    const std::size_t size = std::min<std::size_t>(rest.size(), 700);
    written += rest.substr(0, size);
    queue.written(size);
    EXPECT_EQ(owner.use_count() > 1, queue.bytes() > 3) << queue.bytes();
  }
  EXPECT_EQ(written, all);
}

TEST(ZmtpQueue, DropsWhatWasBegun) {
  ZmtpQueue queue;
  queue.push(message_of({"first", "x"}));
  queue.push(message_of({"second"}));
  queue.drop_begun();
  queue.written(3);
  queue.drop_begun();
  EXPECT_EQ(bytes_of(queue), bytes_of({"second"}));
  queue.drop_begun();
  EXPECT_EQ(bytes_of(queue), bytes_of({"second"}));
}

TEST(ZmtpQueue, HoldsATokenUntilItsMessageIsWritten) {
  ZmtpQueue queue;
  auto token = std::make_shared<int>();
  ZmtpMessage message = message_of({"x"});
  message.hold(token);
  const std::size_t size = message.size();
  queue.push(std::move(message));
  queue.written(size - 1);
  EXPECT_EQ(token.use_count(), 2);
  queue.written(1);
  EXPECT_EQ(token.use_count(), 1);
}

}  // namespace
}  // namespace px::net
