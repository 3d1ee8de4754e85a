#include "net/stream/stream.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "net/accept_guard.hpp"
#include "net/local_interface.hpp"
#include "net/stream/stream_protocol.hpp"
#include "net/stream/stream_relay.hpp"
#include "net/tcp.hpp"
#include "tests/os/lowered_limit.hpp"
#include "wire/ids.hpp"

namespace px::net {
namespace {

using namespace std::chrono_literals;

Signer signer(std::string_view key = "secret") {
  return *Signer::create("hmac-sha256", key);
}

Instant at(Duration age) {
  return Instant{} + age;
}

StreamOffer offer(char digit = 'a') {
  return {std::string(64, digit), *read_stream_key(std::string(64, '1')),
          StreamCipher::aes_256_gcm};
}

/// A relay, and all that is connected to it, in one thread.
class Streams : public ::testing::Test {
 protected:
  struct End {
    Stream stream;
    std::vector<std::string> records = {};  // "head|bytes"
  };

  static StreamRelay new_relay(const StreamLimits& limits = {}) {
    return std::move(StreamRelay::listen("127.0.0.1", 0, signer(), limits).value());
  }
  End dialed(StreamSide side, const StreamOffer& what = offer(), std::string_view key = "secret") {
    End end{Stream{what, side, signer(key)}};
    end.stream.dial("tcp://127.0.0.1", relay.port());
    return end;
  }
  /// A connection that says what it likes, once it was greeted.
  os::Descriptor connected() {
    os::Descriptor socket = std::move(*start_connect_tcp("127.0.0.1", relay.port()));
    return socket;
  }
  /// Gives everybody turns until `is_done`, or for a minute.
  bool turn_until(std::vector<End*> ends, const std::function<bool()>& is_done) {
    const Instant end_of_patience = Clock::now() + 60s;
    bool is_over = is_done();
    for (; !is_over && Clock::now() < end_of_patience; is_over = is_done()) {
      std::vector<pollfd> waiting{{relay.descriptor(), POLLIN, 0}};
      for (End* end : ends) waiting.push_back({end->stream.descriptor(), POLLIN, 0});
      ::poll(waiting.data(), waiting.size(), 10);
      relay.turn(now);
      for (End* end : ends)
        end->stream.turn([&](const StreamRecord& record) {
          end->records.push_back(std::string(record.head) + "|" + std::string(record.bytes));
        });
    }
    return is_over;
  }
  bool turn_until_open(End& one, End& two) {
    return turn_until({&one, &two}, [&] {
      return one.stream.stage() == Stream::Stage::open && two.stream.stage() == Stream::Stage::open;
    });
  }
  bool turn_until_closed(End& end) {
    return turn_until({&end}, [&] { return end.stream.stage() == Stream::Stage::closed; });
  }
  /// What the relay sends to a bare connection, of `length` bytes; shorter: it closed it.
  std::string read_from(const os::Descriptor& socket, std::size_t length) {
    std::string text;
    bool is_over = false;
    turn_until({}, [&] {
      std::array<char, 4096> bytes;
      const ssize_t count = ::recv(socket.value(), bytes.data(),
                                   std::min(bytes.size(), length - text.size()), MSG_DONTWAIT);
      if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
      if (count == 0 || (count < 0 && errno == ECONNRESET)) is_over = true;
      return is_over || text.size() == length;
    });
    return text;
  }
  /// A bare connection that has named the stream.
  os::Descriptor named(const StreamOffer& what, std::string_view key = "secret") {
    os::Descriptor socket = connected();
    const auto nonce = read_stream_greeting(read_from(socket, stream_greeting_bytes));
    say(socket, write_stream_answer(what.id, *nonce, signer(key)));
    return socket;
  }
  static void say(const os::Descriptor& socket, std::string_view text) {
    EXPECT_EQ(::send(socket.value(), text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }

  Instant now = at(0s);
  StreamRelay relay = new_relay();
};

TEST_F(Streams, JoinTheTwoEndsThatNameTheSame) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  End other_client = dialed(StreamSide::client, offer('b'));
  client.stream.send("before it is open", {});
  ASSERT_TRUE(turn_until_open(client, engine));
  EXPECT_EQ(relay.open_count(), 1U);
  engine.stream.send("answer", owned_bytes("bytes"));
  EXPECT_TRUE(turn_until({&client, &engine, &other_client},
                         [&] { return !client.records.empty() && !engine.records.empty(); }));
  EXPECT_EQ(engine.records, std::vector<std::string>{"before it is open|"});
  EXPECT_EQ(client.records, std::vector<std::string>{"answer|bytes"});
  EXPECT_EQ(other_client.stream.stage(), Stream::Stage::waiting);
}

TEST_F(Streams, CarryManyMebibytesInBothDirections) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  std::vector<std::string> sent;
  for (int i = 0; i < 40; ++i) {
    const std::string bytes(longest_record_bytes - static_cast<std::size_t>(i),
                            static_cast<char>(i));
    client.stream.send(std::to_string(i), owned_bytes(bytes));
    engine.stream.send(std::to_string(i), owned_bytes(bytes));
    sent.push_back(std::to_string(i) + "|" + bytes);
  }
  EXPECT_TRUE(turn_until({&client, &engine}, [&] {
    return client.records.size() == sent.size() && engine.records.size() == sent.size();
  }));
  EXPECT_TRUE(client.records == sent);
  EXPECT_TRUE(engine.records == sent);
}

TEST_F(Streams, WaitForAnEndThatDoesNotRead) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  ASSERT_TRUE(turn_until_open(client, engine));
  const std::string bytes(longest_record_bytes, 'b');
  for (int i = 0; i < 64; ++i) client.stream.send("", owned_bytes(bytes));
  int turns = 0;
  turn_until({&client}, [&] { return ++turns > 100; });
  EXPECT_EQ(relay.open_count(), 1U);
  EXPECT_TRUE(turn_until({&client, &engine}, [&] { return engine.records.size() == 64; }));
}

TEST_F(Streams, EndTogether) {
  End engine = dialed(StreamSide::engine);
  {
    End client = dialed(StreamSide::client);
    ASSERT_TRUE(turn_until_open(client, engine));
  }
  EXPECT_TRUE(turn_until_closed(engine));
  EXPECT_EQ(relay.open_count(), 0U);
}

TEST_F(Streams, AreRefusedToThoseWithoutTheKey) {
  End client = dialed(StreamSide::client), stranger = dialed(StreamSide::engine, offer(), "guess");
  EXPECT_TRUE(turn_until_closed(stranger));
  EXPECT_EQ(relay.rejected(), 1U);
  End unsigned_end = dialed(StreamSide::engine, offer(), "");
  EXPECT_TRUE(turn_until_closed(unsigned_end));
  EXPECT_EQ(relay.open_count(), 0U);
}

TEST_F(Streams, AreRefusedToThoseWhoRepeatTheAnswerOfAnother) {
  os::Descriptor one = connected(), two = connected();
  const auto nonce = read_stream_greeting(read_from(one, stream_greeting_bytes));
  EXPECT_EQ(read_from(two, stream_greeting_bytes).size(), stream_greeting_bytes);
  say(two, write_stream_answer(offer().id, *nonce, signer()));
  EXPECT_EQ(read_from(two, 1), "");
  EXPECT_EQ(relay.rejected(), 1U);
}

TEST_F(Streams, HaveTwoEndsAndNoThird) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  ASSERT_TRUE(turn_until_open(client, engine));
  End third = dialed(StreamSide::engine);
  turn_until({&third}, [&] { return third.stream.stage() == Stream::Stage::waiting; });
  EXPECT_EQ(third.stream.stage(), Stream::Stage::waiting);  // for another one of that name
  client.stream.send("for one", {});
  EXPECT_TRUE(turn_until({&client, &engine, &third}, [&] { return !engine.records.empty(); }));
  EXPECT_TRUE(third.records.empty());
}

TEST_F(Streams, CloseWhatIsNotSealedByTheOtherEnd) {
  End client = dialed(StreamSide::client);
  os::Descriptor forger = named(offer());
  ASSERT_TRUE(turn_until({&client}, [&] { return client.stream.stage() == Stream::Stage::open; }));
  say(forger, std::string("\x20\0\0\0", 4) + std::string(32, 'x'));
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_EQ(client.stream.why_closed(), "a record was not sealed by the other end");
  EXPECT_TRUE(client.records.empty());
}

TEST_F(Streams, CloseWhatSendsTheirOwnRecordsBack) {
  End client = dialed(StreamSide::client);
  os::Descriptor mirror = named(offer());
  client.stream.send("head", owned_bytes("bytes"));
  ASSERT_TRUE(turn_until({&client}, [&] { return client.stream.stage() == Stream::Stage::open; }));
  ASSERT_EQ(read_from(mirror, 1), std::string(1, stream_is_paired));
  std::string record;
  turn_until({&client}, [&] {
    std::array<char, 256> bytes;
    const ssize_t count = ::recv(mirror.value(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) record.append(bytes.data(), static_cast<std::size_t>(count));
    return record.size() == 4 + 16 + 5 + 16;
  });
  say(mirror, record);
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_TRUE(client.records.empty());
}

TEST_F(Streams, CloseWhatNamesAnImpossibleLength) {
  End client = dialed(StreamSide::client);
  os::Descriptor forger = named(offer());
  ASSERT_TRUE(turn_until({&client}, [&] { return client.stream.stage() == Stream::Stage::open; }));
  say(forger, "\xff\xff\xff\xff");
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_EQ(client.stream.why_closed(), "a record has an impossible length");
}

TEST_F(Streams, CloseWhereTheProgramAtThePortIsNoController) {
  os::Descriptor listener = std::move(*listen_tcp("127.0.0.1", 0));
  End client{Stream{offer(), StreamSide::client, signer()}};
  client.stream.dial("127.0.0.1", local_port(listener));
  os::Descriptor stranger;
  turn_until({&client}, [&] { return (stranger = accept_tcp(listener)).is_open(); });
  say(stranger, std::string(stream_greeting_bytes, '!'));
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_FALSE(client.stream.was_greeted());
}

TEST_F(Streams, CloseWhereNobodyListens) {
  const int port = [] {
    const os::Descriptor listener = std::move(*listen_tcp("127.0.0.1", 0));
    return local_port(listener);
  }();
  End client{Stream{offer(), StreamSide::client, signer()}};
  client.stream.dial("127.0.0.1", port);
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_NE(client.stream.why_closed(), "");
}

TEST_F(Streams, CloseWhereAPartIsTooLong) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  client.stream.send(std::string(longest_record_head + 1, 'h'), {});
  EXPECT_EQ(client.stream.stage(), Stream::Stage::closed);
  engine.stream.send("", owned_bytes(std::string(longest_record_bytes + 1, 'b')));
  EXPECT_EQ(engine.stream.stage(), Stream::Stage::closed);
}

TEST_F(Streams, AreGivenUpWhereTheOtherEndDoesNotCome) {
  End client = dialed(StreamSide::client);
  ASSERT_TRUE(turn_until({&client}, [&] { return client.stream.was_greeted(); }));
  EXPECT_EQ(relay.next_deadline(), at(10s));
  now = at(10s);
  EXPECT_TRUE(turn_until_closed(client));
  EXPECT_EQ(relay.next_deadline(), std::nullopt);
}

TEST_F(Streams, AreRefusedToThoseWhoSayTooMuchAtFirst) {
  os::Descriptor talker = connected();
  EXPECT_EQ(read_from(talker, stream_greeting_bytes).size(), stream_greeting_bytes);
  say(talker, std::string(2000, 'a'));
  EXPECT_EQ(read_from(talker, 1), "");
  os::Descriptor hasty = named(offer());
  say(hasty, "records before the other end has come");
  EXPECT_EQ(read_from(hasty, 1), "");
  EXPECT_EQ(relay.rejected(), 2U);
}

TEST_F(Streams, AreRefusedWhereTooManyNamedEndsAreAlone) {
  relay = new_relay({.most_single = 2});
  const os::Descriptor one = named(offer()), two = named(offer('b'));
  End three = dialed(StreamSide::client, offer('c'));
  EXPECT_TRUE(turn_until_closed(three));
  EXPECT_EQ(relay.rejected(), 1U);
}

TEST_F(Streams, OpenWhateverStrangersThatSayNothingDo) {
  relay = new_relay({.most_single = 8});
  std::vector<os::Descriptor> strangers;
  const auto add_strangers = [&] {
    for (int i = 0; i < 40; ++i) strangers.push_back(connected());
  };
  add_strangers();
  const os::Descriptor client = named(offer()), other = named(offer('b'));
  add_strangers();
  const os::Descriptor engine = named(offer());
  EXPECT_EQ(read_from(client, 1), "+");
  EXPECT_EQ(relay.open_count(), 1U);
}

TEST_F(Streams, AreNoMoreWhereDescriptorsHaveRunOut) {
  End client = dialed(StreamSide::client), engine = dialed(StreamSide::engine);
  ASSERT_TRUE(turn_until_open(client, engine));
  std::vector<os::Descriptor> strangers;
  for (int i = 0; i < 8; ++i) strangers.push_back(connected());
  const os::LoweredLimit none{os::next_descriptor()};
  const std::uint64_t before_them = AcceptGuard::turned_away();
  const auto are_away = [&] { return AcceptGuard::turned_away() == before_them + 8; };
  EXPECT_TRUE(turn_until({&client, &engine}, are_away));
  client.stream.send("head", owned_bytes("bytes"));
  EXPECT_TRUE(turn_until({&client, &engine}, [&] { return !engine.records.empty(); }));
}

TEST_F(Streams, AreReachedByUnixSocketsToo) {
  const SocketFolder folder = std::move(*SocketFolder::create());
  ASSERT_TRUE(relay.listen_also(folder.interface()));
  End client = dialed(StreamSide::client);
  End engine{Stream{offer(), StreamSide::engine, signer()}};
  engine.stream.dial(folder.interface(), relay.port());
  client.stream.send("head", owned_bytes("bytes"));
  EXPECT_TRUE(turn_until({&client, &engine}, [&] { return !engine.records.empty(); }));
  EXPECT_EQ(engine.records, std::vector<std::string>{"head|bytes"});
}

}  // namespace
}  // namespace px::net
