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
  static OutgoingRequest request(const EngineUuid& engine, const std::string& name,
                                 std::shared_ptr<const Shipment> shipment = {}) {
    OutgoingRequest made;
    made.engine = engine;
    made.head.header = name;
    if (shipment) made.payloads = shipment->buffers;
    made.shipment = std::move(shipment);
    return made;
  }
  static OutgoingRequest broadcast(const std::string& name,
                                   std::shared_ptr<const Shipment> shipment = {}) {
    OutgoingRequest made = request({}, name, std::move(shipment));
    made.channel = RequestChannel::broadcast;
    return made;
  }
  /// The same array for engines of two hosts that are ranks of one world; the first one gives it.
  static std::pair<std::shared_ptr<const Shipment>, std::shared_ptr<const Shipment>> passed(
      std::vector<EngineUuid> givers, std::vector<EngineUuid> takers, std::uint64_t pieces) {
    Shipment first = *shipment(std::move(givers), pieces), second = first;
    for (std::size_t i = 0; i < first.receivers.size(); ++i)
      first.ranks.push_back(Rank{static_cast<int>(i)});
    second.receivers = std::move(takers);
    for (std::size_t i = 0; i < second.receivers.size(); ++i)
      second.ranks.push_back(Rank{static_cast<int>(10 + i)});
    first.takers = 1;
    const auto giver = std::make_shared<const Shipment>(std::move(first));
    second.giver = giver;
    return {giver, std::make_shared<const Shipment>(std::move(second))};
  }
  /// The pieces of these effects: "ann 0 ?", the question mark where an answer is wanted; "cid <- 0
  /// ann.me.1" where it is to ask that rank for that segment.
  static std::vector<std::string> pieces(const HostTransfers::Effects& effects) {
    std::vector<std::string> all;
    for (const auto& effect : effects)
      if (const auto* sent = std::get_if<HostTransfers::SendPiece>(&effect)) {
        if (sent->piece.is_release)
          all.push_back(sent->relay.text + " release");
        else if (sent->piece.giver)
          all.push_back(sent->relay.text + " <- " + std::to_string(*sent->piece.giver) + " " +
                        sent->piece.given_segment);
        else
          all.push_back(sent->relay.text + " " + std::to_string(sent->piece.number) +
                        (sent->piece.wants_answer ? " ?" : "") +
                        (sent->is_overdue ? " late" : ""));
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
  static const OutgoingRequest& first_request(const HostTransfers::Effects& effects) {
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
  const OutgoingRequest& sent = first_request(arrived);
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

TEST_F(HostTransfersTest, WhatIsLostOnItsWayToAnEngineIsSentAgain) {
  transfers.add(request(ann, "push", shipment({ann}, 6)), start);
  transfers.add(request(bob, "push", shipment({bob}, 1)), start);
  transfers.taken("ann.me.1", 4, start);
  EXPECT_EQ(pieces(transfers.send_again(ann, start + 1s)), (Texts{"ann 4", "ann 5 ?"}));
  EXPECT_EQ(pieces(transfers.send_again(cid, start)), Texts{});
  EXPECT_EQ(pieces(transfers.on_time(start + 10s)), Texts{"bob 0 ? late"});  // ann has a second more
}

TEST_F(HostTransfersTest, WhatARankPassesOnIsNotSentAgain) {
  const auto [giver, taker] = passed({ann}, {bob}, 2);
  transfers.add(request(ann, "push", giver), start);
  transfers.add(request(bob, "push", taker), start);
  EXPECT_EQ(pieces(transfers.send_again(bob, start)), Texts{});
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

TEST_F(HostTransfersTest, ABroadcastIsOneRequestForAllEnginesOfAHost) {
  const auto east = shipment({ann, bob}, 1), west = shipment({cid}, 1);
  EXPECT_TRUE(transfers.holds(broadcast("east", east)));
  EXPECT_EQ(pieces(transfers.add(broadcast("east", east), start)), Texts{"ann 0 ?"});
  EXPECT_EQ(pieces(transfers.add(broadcast("west", west), start)), Texts{"cid 0 ?"});
  EXPECT_EQ(requests(transfers.taken("cid.me.2", 1, start)), Texts{});  // in their order
  const auto arrived = transfers.taken("ann.me.1", 1, start);
  EXPECT_EQ(requests(arrived), (Texts{": east", ": west"}));
  EXPECT_EQ(first_request(arrived).payloads.at(1).bytes,
            "px-segment ann.me.1 0 " + std::to_string(piece));
  EXPECT_TRUE(transfers.is_idle());
}

TEST_F(HostTransfersTest, LaterBroadcastsWaitAndRequestsToSingleEnginesDoNot) {
  transfers.add(broadcast("push", shipment({ann, bob}, 1)), start);
  EXPECT_TRUE(transfers.holds(broadcast("execute")));
  EXPECT_FALSE(transfers.holds(request(ann, "execute")));
  EXPECT_EQ(requests(transfers.add(broadcast("execute"), start)), Texts{});
  EXPECT_EQ(pieces(transfers.lose_engine(ann, start)), Texts{"bob 0 ?"});
  EXPECT_EQ(requests(transfers.taken("bob.me.2", 1, start)), (Texts{": push", ": execute"}));
  EXPECT_FALSE(transfers.holds(broadcast("execute")));
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
  EXPECT_EQ(pieces(transfers.on_time(start + 15s)),
            (Texts{"ann 4 late", "ann 5 late", "ann 6 late", "ann 7 ? late"}));
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

TEST_F(HostTransfersTest, AnArrayForOneWorldGoesToOneHostWhichPassesItOn) {
  const auto [first, second] = passed({ann}, {cid}, 3);
  const auto begun = transfers.add(request(cid, "push", second), start);
  EXPECT_EQ(pieces(begun), (Texts{"ann 0", "ann 1", "ann 2 ?", "cid <- 0 ann.me.1"}));
  EXPECT_EQ(std::get<HostTransfers::SendPiece>(begun.front()).piece.takers, 1u);
  transfers.add(request(ann, "push", first), start);
  EXPECT_EQ(requests(transfers.taken("ann.me.1", 3, start)), Texts{"ann: push"});
  EXPECT_EQ(requests(transfers.taken("cid.me.2", 1, start)), Texts{});
  const auto arrived = transfers.taken("cid.me.2", 2, start);  // pieces of 512 KiB
  EXPECT_EQ(requests(arrived), Texts{"cid: push"});
  EXPECT_EQ(first_request(arrived).payloads.at(1).bytes,
            "px-segment cid.me.2 0 " + std::to_string(3 * piece));
  EXPECT_TRUE(transfers.is_idle());
}

TEST_F(HostTransfersTest, AGivenSegmentStaysUntilTheOthersHaveIt) {
  const auto [first, second] = passed({ann}, {cid}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  transfers.taken("ann.me.1", 1, start);  // its request was answered at once
  EXPECT_EQ(pieces(transfers.on_time(start)), Texts{});
  transfers.taken("cid.me.2", 1, start);
  EXPECT_EQ(pieces(transfers.on_time(start)), (Texts{"ann release", "cid release"}));
}

TEST_F(HostTransfersTest, AHostThatIsPassedNothingGetsItsOwnCopy) {
  const auto [first, second] = passed({ann}, {cid}, 2);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  const auto refused = transfers.refused("cid.me.2", "MPI is broken", start);
  EXPECT_FALSE(warns(refused));
  EXPECT_EQ(pieces(refused), (Texts{"cid 0", "cid 1 ?"}));
  EXPECT_EQ(requests(transfers.taken("ann.me.1", 2, start)), Texts{"ann: push"});
  EXPECT_EQ(requests(transfers.taken("cid.me.3", 2, start)), Texts{"cid: push"});
}

TEST_F(HostTransfersTest, WhatIsPassedOnTooSlowlyComesFromTheClient) {
  const auto [first, second] = passed({ann}, {cid}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  transfers.taken("ann.me.1", 1, start);
  const auto late = pieces(transfers.on_time(start + HostTransfers::longest_stall));
  EXPECT_EQ(late, (Texts{"cid 0 ?", "cid release", "ann release"}));
}

TEST_F(HostTransfersTest, TheDeathOfTheGiverEndsThePassing) {
  const auto [first, second] = passed({ann, bob}, {cid}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(bob, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  EXPECT_EQ(pieces(transfers.lose_engine(ann, start)), (Texts{"bob 0 ?", "cid 0 ?"}));
  EXPECT_EQ(requests(transfers.taken("bob.me.3", 1, start)), Texts{"bob: push"});
  EXPECT_EQ(requests(transfers.taken("cid.me.4", 1, start)), Texts{"cid: push"});
}

TEST_F(HostTransfersTest, AGiverThatHasAllOfItAndDiesEndsThePassingToo) {
  const auto [first, second] = passed({ann}, {cid}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  transfers.taken("ann.me.1", 1, start);
  EXPECT_EQ(pieces(transfers.lose_engine(ann, start)), Texts{"cid 0 ?"});
}

TEST_F(HostTransfersTest, TheDeathOfWhoTakesEndsThePassing) {
  const auto [first, second] = passed({ann}, {cid, bob}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  transfers.add(request(bob, "push", second), start);
  EXPECT_EQ(pieces(transfers.lose_engine(cid, start)), Texts{"bob 0 ?"});
  EXPECT_EQ(requests(transfers.taken("bob.me.3", 1, start)), Texts{"bob: push"});
}

TEST_F(HostTransfersTest, NothingIsPassedOnByAnEngineWithoutRoom) {
  const auto [first, second] = passed({ann}, {cid}, 1);
  transfers.add(request(ann, "push", first), start);
  transfers.add(request(cid, "push", second), start);
  const auto refused = transfers.refused("ann.me.1", "no room", start);
  EXPECT_EQ(requests(refused), Texts{"ann: push"});  // with the bytes
  EXPECT_EQ(pieces(refused), Texts{"cid 0 ?"});
}

TEST_F(HostTransfersTest, HostsThatArePassedItDoNotCountAsRunning) {
  std::vector<std::pair<std::shared_ptr<const Shipment>, std::shared_ptr<const Shipment>>> arrays;
  for (std::size_t i = 0; i < HostTransfers::most_running; ++i) {
    arrays.push_back(passed({ann}, {cid}, 1));
    EXPECT_EQ(pieces(transfers.add(request(cid, "push", arrays.back().second), start)).size(), 2u);
  }
  arrays.push_back(passed({ann}, {cid}, 1));
  EXPECT_EQ(pieces(transfers.add(request(cid, "push", arrays.back().second), start)), Texts{});
  EXPECT_EQ(pieces(transfers.taken("ann.me.1", 1, start)), (Texts{"ann 0 ?", "cid <- 0 ann.me.9"}));
}

TEST(Ship, TheFirstHostOfAWorldPassesTheBuffersOn) {
  EngineDirectory engines;
  const auto add = [&](int id, const char* memory, const char* passing) {
    const EngineUuid uuid{"e" + std::to_string(id)};
    engines.add(EngineId{id}, uuid, "python", memory, passing);
  };
  add(0, "east", "w/0");
  add(1, "east", "w/1");
  add(2, "west", "w/2");
  add(3, "north", "w/3");
  add(4, "south", "other/0");
  add(5, "up", "w/4");
  add(6, "up", "");  // a further engine of that host, which is no rank
  std::vector<EngineId> ids;
  for (int id = 0; id < 7; ++id) ids.push_back(EngineId{id});
  const RequestBody work{
      "push_request", "{}", {owned_bytes(std::string(least_shipped_bytes, 'x'))}};
  const auto shipped = ship(work, ids, engines);
  const auto east = shipped.at("east").shipment;  // its memory's name is the first
  EXPECT_EQ(east->giver, nullptr);
  EXPECT_EQ(east->takers, 2u);
  EXPECT_EQ(east->ranks, (std::vector<Rank>{Rank{0}, Rank{1}}));
  EXPECT_EQ(shipped.at("west").shipment->giver, east);
  EXPECT_EQ(shipped.at("north").shipment->giver, east);
  EXPECT_EQ(shipped.at("south").shipment->giver, nullptr);
  EXPECT_EQ(shipped.at("up").shipment->giver, nullptr);
}

TEST(Ship, EachMemoryGetsItsOwnShipmentOfLargeBuffers) {
  EngineDirectory engines;
  engines.add(EngineId{0}, ann, "python", "east");
  engines.add(EngineId{1}, bob, "python", "west");
  engines.add(EngineId{2}, cid, "python", "east");
  engines.add(EngineId{3}, EngineUuid{"dan"}, "python");
  const std::vector<EngineId> ids{EngineId{0}, EngineId{1}, EngineId{2}, EngineId{3}};
  RequestBody work{"push_request", "{}", {owned_bytes(std::string(least_shipped_bytes, 'x'))}};
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
