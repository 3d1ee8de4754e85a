#include "client/transfers/engine_streams.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "net/stream/stream_relay.hpp"
#include "net/tcp.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"};

Signer stream_signer() {
  return *Signer::create("hmac-sha256", "secret");
}

/// A client's streams past a relay, in one thread; the test plays the engines.
class EngineStreamsTest : public testing::Test {
 protected:
  EngineStreamsTest() {
    loop.watch(relay.descriptor(), [this] { relay.turn(Clock::now()); });
  }
  EngineStreams made(std::optional<EngineStreams::StreamAddress> place) {
    return {loop, stream_signer(), std::move(place),
            {[this](const EngineUuid&, const Json& offer) { offers.push_back(offer); },
             [this](const EngineUuid& engine, const net::StreamRecord& record) {
               said.push_back(engine.text + " " + std::string(record.head));
             },
             [this](const EngineUuid& engine) { lost.push_back(engine.text); }}};
  }
  EngineStreams::StreamAddress place() const { return {"tcp://127.0.0.1", relay.port()}; }
  /// The engine that takes the offer.
  net::Stream engine(const Json& offer) {
    net::Stream stream{{offer["stream"], *net::read_stream_key(offer["key"].get<std::string>()),
                        *net::stream_cipher_by_name(offer["cipher"].get<std::string>())},
                       net::StreamSide::engine,
                       stream_signer()};
    stream.dial("127.0.0.1", relay.port());
    return stream;
  }
  /// Turns everybody until `is_done`, or for a minute.
  template <class IsDone>
  bool turn_until(const IsDone& is_done, net::Stream* engine = nullptr) {
    const Instant end = Clock::now() + 60s;
    while (!is_done() && Clock::now() < end) {
      loop.wait_until(Clock::now() + 10ms);
      if (engine)
        engine->turn([&](const net::StreamRecord& record) {
          came.push_back(std::string(record.head) + " " + std::string(record.bytes));
        });
    }
    return is_done();
  }
  using Texts = std::vector<std::string>;

  net::Loop loop;
  net::StreamRelay relay =
      std::move(net::StreamRelay::listen("127.0.0.1", 0, stream_signer()).value());
  std::vector<Json> offers;
  Texts said, came, lost;
  const Instant start = Clock::now();
};

TEST_F(EngineStreamsTest, OneIsOfferedToAnEngineAndCarriesWhatIsSentToIt) {
  EngineStreams streams = made(place());
  EXPECT_TRUE(streams.send(ann, "first", owned_bytes("bytes"), start));
  EXPECT_TRUE(streams.send(ann, "second", {}, start));
  ASSERT_EQ(offers.size(), 1U);
  net::Stream there = engine(offers.front());
  EXPECT_TRUE(turn_until([&] { return came.size() == 2; }, &there));
  EXPECT_EQ(came, (Texts{"first bytes", "second "}));
  there.send("answer", {});
  EXPECT_TRUE(turn_until([&] { return !said.empty(); }, &there));
  EXPECT_EQ(said, Texts{"ann answer"});
  EXPECT_EQ(lost, Texts{});
}

TEST_F(EngineStreamsTest, WithoutAPortThereIsNone) {
  EngineStreams streams = made(std::nullopt);
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  EXPECT_FALSE(streams.send_if_there(ann, "head", start));
  EXPECT_TRUE(offers.empty());
  EXPECT_FALSE(streams.next_deadline());
}

TEST_F(EngineStreamsTest, WhatNeedNotComeBehindOthersBeginsNone) {
  EngineStreams streams = made(place());
  EXPECT_FALSE(streams.send_if_there(ann, "head", start));
  EXPECT_TRUE(offers.empty());
}

TEST_F(EngineStreamsTest, AnEngineThatDoesNotComeGetsNoneAnyMore) {
  EngineStreams streams = made(place());
  EXPECT_TRUE(streams.send(ann, "head", {}, start));
  int turns = 0;
  turn_until([&] { return ++turns > 20; });  // the controller has greeted meanwhile
  EXPECT_EQ(streams.next_deadline(), start + EngineStreams::patience);
  streams.on_time(start + EngineStreams::patience);
  EXPECT_EQ(lost, Texts{"ann"});
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  EXPECT_TRUE(streams.send(bob, "head", {}, start));
}

TEST_F(EngineStreamsTest, APortThatNobodyListensAtIsNotTriedAgain) {
  const int closed = net::local_port(*net::listen_tcp("127.0.0.1", 0));
  EngineStreams streams = made(EngineStreams::StreamAddress{"127.0.0.1", closed});
  if (streams.send(ann, "head", {}, start)) {
    EXPECT_TRUE(turn_until([&] { return !lost.empty(); }));
    EXPECT_EQ(lost, Texts{"ann"});
  }
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  EXPECT_FALSE(streams.send(bob, "head", {}, start));
}

TEST_F(EngineStreamsTest, AfterOneBrokeTheEngineGetsAnotherOneLater) {
  EngineStreams streams = made(place());
  EXPECT_TRUE(streams.send(ann, "head", {}, start));
  {
    net::Stream there = engine(offers.front());
    ASSERT_TRUE(turn_until([&] { return !came.empty(); }, &there));
  }
  EXPECT_TRUE(turn_until([&] { return !lost.empty(); }));
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  const Instant later = *streams.next_deadline();
  EXPECT_GE(later, start + EngineStreams::pause);
  streams.on_time(later);
  EXPECT_TRUE(streams.send(ann, "head", {}, later));
  EXPECT_EQ(offers.size(), 2U);
  EXPECT_NE(offers[0]["key"], offers[1]["key"]);
}

TEST_F(EngineStreamsTest, OneThatIsNotAnsweredIsGivenUpAndAnotherOneComesLater) {
  EngineStreams streams = made(place());
  EXPECT_TRUE(streams.send(ann, "head", {}, start));
  net::Stream there = engine(offers.front());
  ASSERT_TRUE(turn_until([&] { return !came.empty(); }, &there));
  streams.give_up(ann, start);
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  EXPECT_EQ(lost, Texts{});  // who gives it up knows
  streams.on_time(start + EngineStreams::pause);
  EXPECT_TRUE(streams.send(ann, "head", {}, start + EngineStreams::pause));
}

TEST_F(EngineStreamsTest, OneThatNobodyUsesIsClosed) {
  EngineStreams streams = made(place());
  EXPECT_TRUE(streams.send(ann, "head", {}, start));
  net::Stream there = engine(offers.front());
  ASSERT_TRUE(turn_until([&] { return !came.empty(); }, &there));
  streams.on_time(*streams.next_deadline());
  EXPECT_TRUE(
      turn_until([&] { return there.stage() == net::Stream::Stage::closed; }, &there));
  EXPECT_EQ(lost, Texts{});
  EXPECT_FALSE(streams.next_deadline());
}

TEST_F(EngineStreamsTest, ThereAreNoMoreThanABound) {
  EngineStreams streams = made(place());
  for (std::size_t i = 0; i < EngineStreams::most_streams; ++i)
    EXPECT_TRUE(streams.send(EngineUuid{std::to_string(i)}, "head", {}, start));
  EXPECT_FALSE(streams.send(ann, "head", {}, start));
  streams.lose_engine(EngineUuid{"0"});
  EXPECT_TRUE(streams.send(ann, "head", {}, start));
}

}  // namespace
}  // namespace px::client
