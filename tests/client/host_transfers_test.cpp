#include "client/transfers/host_transfers.hpp"

#include <gtest/gtest.h>

#include "client/transfers/shipping.hpp"

namespace px::client {
namespace {

using namespace std::chrono_literals;

const EngineUuid ann{"ann"}, bob{"bob"}, cid{"cid"};
constexpr std::uint64_t piece = HostTransfers::piece_bytes;
constexpr Instant start{};

class HostTransfersTest : public testing::Test {
 protected:
  /// An array of so many pieces for these engines of one host.
  static std::shared_ptr<const Shipment> shipment(std::vector<EngineUuid> receivers,
                                                  std::uint64_t pieces) {
    std::vector<SharedBytes> buffers{owned_bytes("small"),
                                     owned_bytes(std::string(pieces * piece, 'x'))};
    os::SegmentLayout layout = os::lay_out(buffers);
    return std::make_shared<Shipment>(Shipment{std::move(receivers), buffers, std::move(layout)});
  }
  static Outgoing request(const EngineUuid& engine, const std::string& name,
                          std::shared_ptr<const Shipment> shipment = {}) {
    Outgoing made;
    made.engine = engine;
    made.head.header = name;
    if (shipment) made.payloads = shipment->buffers;
    made.shipment = std::move(shipment);
    return made;
  }
  /// The pieces of these effects: "ann 0 ?", the question mark where an answer is wanted.
  static std::vector<std::string> pieces(const HostTransfers::Effects& effects) {
    std::vector<std::string> all;
    for (const auto& effect : effects)
      if (const auto* sent = std::get_if<HostTransfers::SendPiece>(&effect)) {
        if (sent->piece.is_release)
          all.push_back(sent->relay.text + " release");
        else
          all.push_back(sent->relay.text + " " + std::to_string(sent->piece.number) +
                        (sent->piece.wants_answer ? " ?" : ""));
      }
    return all;
  }
  /// The requests that go out: "ann: first".
  static std::vector<std::string> requests(const HostTransfers::Effects& effects) {
    std::vector<std::string> all;
    for (const auto& effect : effects)
      if (const auto* sent = std::get_if<HostTransfers::SendRequest>(&effect))
        all.push_back(sent->request.engine.text + ": " + sent->request.head.header);
    return all;
  }
  static const Outgoing& first_request(const HostTransfers::Effects& effects) {
    for (const auto& effect : effects)
      if (const auto* sent = std::get_if<HostTransfers::SendRequest>(&effect)) return sent->request;
    throw std::logic_error("no request goes out");
  }
  static bool warns(const HostTransfers::Effects& effects) {
    return std::any_of(effects.begin(), effects.end(), [](const auto& effect) {
      return std::holds_alternative<HostTransfers::Warn>(effect);
    });
  }
  using Texts = std::vector<std::string>;

  HostTransfers transfers{SessionId{"me"}};
};

TEST_F(HostTransfersTest, AnArrayGoesToOneEngineOfItsHostAndIsNamedToAll) {
  const auto array = shipment({ann, bob}, 2);
  EXPECT_TRUE(transfers.holds(request(ann, "push", array)));
  const auto begun = transfers.add(request(ann, "push", array), start);
  EXPECT_EQ(pieces(begun), (Texts{"ann 0", "ann 1 ?"}));
  EXPECT_EQ(requests(begun), Texts{});
  EXPECT_EQ(pieces(transfers.add(request(bob, "push", array), start)), Texts{});
  const auto arrived = transfers.taken("ann.me.1", 2, start);
  EXPECT_EQ(requests(arrived), (Texts{"ann: push", "bob: push"}));
  const Outgoing& sent = first_request(arrived);
  EXPECT_EQ(sent.payloads.at(0).bytes, "small");
  EXPECT_EQ(sent.payloads.at(1).bytes, "px-segment ann.me.1 0 " + std::to_string(2 * piece));
  EXPECT_TRUE(transfers.is_idle());
}

TEST_F(HostTransfersTest, NoMoreThanAWindowIsUnderWay) {
  const auto array = shipment({ann}, 40);
  const auto begun = pieces(transfers.add(request(ann, "push", array), start));
  EXPECT_EQ(begun.size(), HostTransfers::window_pieces);
  EXPECT_EQ(begun.back(), "ann 15 ?");
  EXPECT_EQ(pieces(transfers.taken("ann.me.1", 4, start)),
            (Texts{"ann 16", "ann 17", "ann 18", "ann 19 ?"}));
  EXPECT_EQ(pieces(transfers.taken("ann.me.1", 4, start)), Texts{});    // the same answer again
  EXPECT_EQ(pieces(transfers.taken("ann.me.1", 999, start)), Texts{});  // what was not sent
}

TEST_F(HostTransfersTest, LaterRequestsToTheSameEngineKeepTheirPlace) {
  const auto array = shipment({ann}, 1);
  transfers.add(request(ann, "push", array), start);
  EXPECT_TRUE(transfers.holds(request(ann, "execute")));
  EXPECT_FALSE(transfers.holds(request(bob, "execute")));
  EXPECT_EQ(requests(transfers.add(request(ann, "execute"), start)), Texts{});
  EXPECT_EQ(requests(transfers.taken("ann.me.1", 1, start)), (Texts{"ann: push", "ann: execute"}));
  EXPECT_FALSE(transfers.holds(request(ann, "execute")));
}

TEST_F(HostTransfersTest, AnArrayThatArrivedFirstWaitsForOneBeforeItAtTheSameEngine) {
  const auto first = shipment({ann}, 1), second = shipment({bob, ann}, 1);
  transfers.add(request(ann, "first", first), start);
  transfers.add(request(bob, "second", second), start);
  transfers.add(request(ann, "second", second), start);
  EXPECT_EQ(requests(transfers.taken("bob.me.2", 1, start)), Texts{"bob: second"});
  EXPECT_EQ(requests(transfers.taken("ann.me.1", 1, start)), (Texts{"ann: first", "ann: second"}));
  EXPECT_TRUE(transfers.is_idle());
}

TEST_F(HostTransfersTest, ASegmentIsReleasedWhenItsLastRequestIsAnswered) {
  const auto array = shipment({ann, bob}, 1);
  transfers.add(request(ann, "push", array), start);
  transfers.add(request(bob, "push", array), start);
  {
    const auto arrived = transfers.taken("ann.me.1", 1, start);  // holds both requests
    EXPECT_EQ(pieces(transfers.on_time(start)), Texts{});
  }
  EXPECT_EQ(pieces(transfers.on_time(start)), Texts{"ann release"});
  EXPECT_EQ(pieces(transfers.on_time(start)), Texts{});
}

TEST_F(HostTransfersTest, AnotherEngineOfTheHostTakesThePlaceOfOneThatDies) {
  const auto array = shipment({ann, bob}, 2);
  transfers.add(request(ann, "push", array), start);
  transfers.add(request(bob, "push", array), start);
  const auto lost = transfers.lose_engine(ann, start);
  EXPECT_EQ(pieces(lost), (Texts{"bob 0", "bob 1 ?"}));
  EXPECT_EQ(requests(lost), Texts{"ann: push"});  // it fails when it is sent
  EXPECT_EQ(requests(transfers.taken("ann.me.1", 2, start)), Texts{});
  EXPECT_EQ(requests(transfers.taken("bob.me.2", 2, start)), Texts{"bob: push"});
}

TEST_F(HostTransfersTest, WhatNobodyTakesIsSentAgainAndThenToAnotherEngine) {
  const auto array = shipment({ann, bob}, 8);
  transfers.add(request(ann, "push", array), start);
  transfers.add(request(bob, "push", array), start);
  transfers.taken("ann.me.1", 4, start + 5s);
  EXPECT_EQ(transfers.next_deadline(), start + 15s);
  EXPECT_EQ(pieces(transfers.on_time(start + 14s)), Texts{});
  EXPECT_EQ(pieces(transfers.on_time(start + 15s)), (Texts{"ann 4", "ann 5", "ann 6", "ann 7 ?"}));
  const auto moved = pieces(transfers.on_time(start + 25s));
  EXPECT_EQ(moved.size(), 9u);
  EXPECT_EQ(moved.front(), "bob 0");
  EXPECT_EQ(moved.back(), "ann release");
  EXPECT_EQ(requests(transfers.taken("bob.me.2", 8, start + 26s)),
            (Texts{"ann: push", "bob: push"}));
}

TEST_F(HostTransfersTest, BytesGoOutWhereNoEngineCanTakeThem) {
  const auto array = shipment({ann, bob}, 1);
  transfers.add(request(ann, "push", array), start);
  transfers.add(request(bob, "push", array), start);
  const auto refused = transfers.refused("ann.me.1", "no room", start);
  EXPECT_TRUE(warns(refused));
  EXPECT_EQ(requests(refused), (Texts{"ann: push", "bob: push"}));
  EXPECT_EQ(first_request(refused).payloads.at(1).bytes.size(), piece);
  EXPECT_FALSE(first_request(refused).hold);
  EXPECT_TRUE(transfers.is_idle());
}

TEST_F(HostTransfersTest, AFewTransfersRunAndFurtherOnesWait) {
  std::vector<std::shared_ptr<const Shipment>> arrays;
  for (std::size_t i = 0; i <= HostTransfers::most_running; ++i) {
    arrays.push_back(shipment({ann}, 1));
    const bool runs = i < HostTransfers::most_running;
    EXPECT_EQ(pieces(transfers.add(request(ann, "push", arrays.back()), start)).size(),
              runs ? 1u : 0u);
  }
  EXPECT_EQ(pieces(transfers.taken("ann.me.2", 1, start)), Texts{"ann 0 ?"});
}

TEST_F(HostTransfersTest, TellsHowFarItIs) {
  EXPECT_EQ(transfers.progress().total, 0u);
  transfers.add(request(ann, "push", shipment({ann}, 8)), start);
  transfers.add(request(bob, "push", shipment({bob}, 4)), start);
  EXPECT_EQ(transfers.progress().done, 0u);
  EXPECT_EQ(transfers.progress().total, 12 * piece);
  transfers.taken("ann.me.1", 4, start);
  transfers.taken("bob.me.2", 4, start);  // it has ended
  EXPECT_EQ(transfers.progress().done, 8 * piece);
  EXPECT_EQ(transfers.progress().total, 12 * piece);
  transfers.taken("ann.me.1", 8, start);
  EXPECT_EQ(transfers.progress().total, 0u);
}

TEST_F(HostTransfersTest, WhatIsUnderWayIsReleasedWhenTheClientCloses) {
  transfers.add(request(ann, "push", shipment({ann}, 4)), start);
  transfers.clear();
  EXPECT_TRUE(transfers.is_idle());
  EXPECT_EQ(pieces(transfers.on_time(start)), Texts{"ann release"});
}

TEST(Ship, EachMemoryGetsItsOwnShipmentOfLargeBuffers) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "python", "east");
  engines.add(EngineId{1}, bob, "python", "west");
  engines.add(EngineId{2}, cid, "python", "east");
  engines.add(EngineId{3}, EngineUuid{"dan"}, "python");
  const std::vector<EngineId> ids{EngineId{0}, EngineId{1}, EngineId{2}, EngineId{3}};
  Work work{"push_request", "{}", {owned_bytes(std::string(least_shipped_bytes, 'x'))}};
  const auto shipped = ship(work, ids, engines);
  ASSERT_EQ(shipped.size(), 2u);
  EXPECT_EQ(shipped.at("east").shipment->receivers, (std::vector<EngineUuid>{ann, cid}));
  EXPECT_EQ(shipped.at("west").shipment->receivers, (std::vector<EngineUuid>{bob}));
  EXPECT_EQ(shipped.at("east").in_segments, (std::vector<std::size_t>{0}));
  work.buffers = {owned_bytes(std::string(least_shipped_bytes - 1, 'x'))};
  EXPECT_TRUE(ship(work, ids, engines).empty());
}

}  // namespace
}  // namespace px::client
