#include "client/transfers/result_fetches.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace px::client {
namespace {

using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

const EngineUuid ann{"ann"}, bob{"bob"};
constexpr std::uint64_t piece = ResultFetches::piece_bytes;
constexpr Instant start{};

class ResultFetchesTest : public testing::Test {
 protected:
  /// A reply of two frames and three buffers; of the last one the engine holds so many bytes.
  static ResultFetches::ShortReply reply(const EngineUuid& engine, const std::string& name,
                                         std::uint64_t bytes) {
    ResultFetches::ShortReply made;
    made.head.parent = MessageId{"request of " + name};
    made.head.engine = engine.text;
    made.frames =
        std::make_shared<TextFrames>(std::vector<std::string>{"head", "content", "a", "b", ""});
    made.first_buffer = 2;
    made.held = {name, {{2, bytes}}};
    return made;
  }
  /// What these effects say: "ann x 0", "ann x release", "request of x is whole", "... fails".
  static Texts said(const ResultFetches::Effects& effects) {
    Texts all;
    for (const auto& effect : effects) {
      if (const auto* sent = std::get_if<ResultFetches::SendRequest>(&effect))
        all.push_back(sent->engine.text + " " + sent->piece.name + " " +
                      (sent->piece.is_release ? "release"
                                              : std::to_string(sent->piece.offset / piece)) +
                      (sent->is_overdue ? " late" : ""));
      if (const auto* whole = std::get_if<ResultFetches::Deliver>(&effect))
        all.push_back(whole->head.parent.text + " is whole");
      if (const auto* failed = std::get_if<ResultFetches::Fail>(&effect))
        all.push_back(failed->request.text + " fails");
    }
    return all;
  }
  static std::string bytes_of(std::uint64_t number, std::uint64_t length = piece) {
    return std::string(length, static_cast<char>('a' + number % 26));
  }
  ResultFetches::Effects arrive(const EngineUuid& engine, const std::string& name,
                                std::uint64_t number, std::uint64_t length = piece,
                                Instant now = start) {
    return fetches.arrived(engine, {name, 2, number * piece, 0, false}, bytes_of(number, length),
                           now);
  }
  ResultFetches fetches;
};

TEST_F(ResultFetchesTest, AResultIsWholeWhenItsLastPieceIsThereAndThenReleased) {
  EXPECT_EQ(said(fetches.add(reply(ann, "x", piece + 3), start)), (Texts{"ann x 0", "ann x 1"}));
  EXPECT_EQ(said(arrive(ann, "x", 0)), Texts{});
  const auto effects = arrive(ann, "x", 1, 3);
  EXPECT_EQ(said(effects), (Texts{"request of x is whole", "ann x release"}));
  const auto& frames = *std::get<ResultFetches::Deliver>(effects.at(0)).frames;
  EXPECT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames.at(3), "b");
  EXPECT_EQ(frames.at(4), bytes_of(0) + "bbb");
  EXPECT_TRUE(fetches.is_idle());
}

TEST_F(ResultFetchesTest, NoMorePiecesThanAWindowAreAskedFor) {
  const auto begun = said(fetches.add(reply(ann, "x", 40 * piece), start));
  EXPECT_EQ(begun.size(), ResultFetches::window_pieces);
  EXPECT_EQ(said(arrive(ann, "x", 0)), Texts{"ann x 16"});
}

TEST_F(ResultFetchesTest, TellsHowFarItIs) {
  EXPECT_EQ(fetches.progress().total, 0u);
  fetches.add(reply(ann, "x", 2 * piece), start);
  fetches.add(reply(bob, "y", piece + 5), start);
  arrive(ann, "x", 0);
  EXPECT_EQ(fetches.progress().done, piece);
  EXPECT_EQ(fetches.progress().total, 3 * piece + 5);
  arrive(ann, "x", 1);  // it is whole
  EXPECT_EQ(fetches.progress().done, 2 * piece);
  EXPECT_EQ(fetches.progress().total, 3 * piece + 5);
  fetches.lose_engine(bob, start);
  EXPECT_EQ(fetches.progress().total, 0u);
}

TEST_F(ResultFetchesTest, OtherResultsWaitUntilOneOfTheFirstIsWhole) {
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_EQ(said(fetches.add(reply(ann, name, piece), start)).size(), 1u);
  EXPECT_EQ(said(fetches.add(reply(ann, "e", piece), start)), Texts{});
  EXPECT_EQ(said(arrive(ann, "a", 0)),
            (Texts{"request of a is whole", "ann a release", "ann e 0"}));
}

TEST_F(ResultFetchesTest, AnEngineIsRemindedOfAResultThatWaitsForItsTurn) {
  for (const char* name : {"a", "b", "c", "d", "e"})
    fetches.add(reply(ann, name, 50 * piece), start);
  for (int second = 5; second < 30; second += 5)
    for (const char* name : {"a", "b", "c", "d"})
      arrive(ann, name, static_cast<std::uint64_t>(second) / 5 - 1, piece,
             start + std::chrono::seconds(second));
  EXPECT_EQ(fetches.next_deadline(), start + 30s);
  EXPECT_EQ(said(fetches.on_time(start + 30s)), Texts{"ann e 0"});
  EXPECT_EQ(said(arrive(ann, "e", 0, 1)), Texts{}) << "the answer to it";
}

TEST_F(ResultFetchesTest, PiecesThatWereNotAskedForOrComeTwiceAreIgnored) {
  fetches.add(reply(ann, "x", 2 * piece), start);
  EXPECT_EQ(said(arrive(ann, "x", 1)), Texts{}) << "the first one is missing";
  EXPECT_EQ(said(arrive(bob, "x", 0)), Texts{}) << "another engine's";
  EXPECT_EQ(said(arrive(ann, "x", 0, piece - 1)), Texts{}) << "too short";
  EXPECT_EQ(said(arrive(ann, "x", 0)), Texts{});
  EXPECT_EQ(said(arrive(ann, "x", 0)), Texts{}) << "twice";
  EXPECT_EQ(said(arrive(ann, "x", 1)), (Texts{"request of x is whole", "ann x release"}));
}

TEST_F(ResultFetchesTest, AReplyThatComesAgainMeanwhileChangesNothing) {
  fetches.add(reply(ann, "x", 2 * piece), start);
  EXPECT_EQ(said(fetches.add(reply(ann, "x", 2 * piece), start)), Texts{});
  EXPECT_EQ(said(fetches.add(reply(bob, "x", piece), start)), Texts{"bob x 0"});
}

TEST_F(ResultFetchesTest, WhatHasNotComeIsAskedForAgainAndThenGivenUp) {
  fetches.add(reply(ann, "x", 3 * piece), start);
  arrive(ann, "x", 0, piece, start + 1s);
  EXPECT_EQ(fetches.next_deadline(), start + 11s);
  EXPECT_EQ(said(fetches.on_time(start + 10s)), Texts{});
  EXPECT_EQ(said(fetches.on_time(start + 11s)), (Texts{"ann x 1 late", "ann x 2 late"}));
  EXPECT_EQ(said(fetches.on_time(start + 21s)), (Texts{"request of x fails", "ann x release"}));
  EXPECT_FALSE(fetches.next_deadline());
}

TEST_F(ResultFetchesTest, WhatIsLostOnItsWayFromAnEngineIsAskedForAgain) {
  fetches.add(reply(ann, "x", 3 * piece), start);
  fetches.add(reply(bob, "y", piece), start);
  arrive(ann, "x", 0, piece, start);
  EXPECT_EQ(said(fetches.ask_again(ann, start + 1s)), (Texts{"ann x 1", "ann x 2"}));
  EXPECT_EQ(said(fetches.on_time(start + 10s)), Texts{"bob y 0 late"});  // ann has a second more
}

TEST_F(ResultFetchesTest, APieceBetweenTwoStallsCounts) {
  fetches.add(reply(ann, "x", 3 * piece), start);
  fetches.on_time(start + 10s);
  arrive(ann, "x", 0, piece, start + 12s);
  EXPECT_EQ(said(fetches.on_time(start + 22s)), (Texts{"ann x 1 late", "ann x 2 late"}));
}

TEST_F(ResultFetchesTest, ARefusalFailsItsRequestAlone) {
  fetches.add(reply(ann, "x", piece), start);
  fetches.add(reply(ann, "y", piece), start);
  EXPECT_EQ(said(fetches.refused(ann, "x", "gone", start)), Texts{"request of x fails"});
  EXPECT_EQ(said(fetches.refused(ann, "x", "gone", start)), Texts{});
  EXPECT_EQ(said(arrive(ann, "y", 0)), (Texts{"request of y is whole", "ann y release"}));
}

TEST_F(ResultFetchesTest, WhatAnEngineHeldGoesWithIt) {
  for (const char* name : {"a", "b", "c", "d"}) fetches.add(reply(ann, name, piece), start);
  fetches.add(reply(bob, "e", piece), start);
  EXPECT_EQ(said(fetches.lose_engine(ann, start)), Texts{"bob e 0"});
}

TEST_F(ResultFetchesTest, AHeldBufferThatTheReplyHasNoPlaceForIsRefused) {
  auto hostile = reply(ann, "x", piece);
  hostile.held.buffers.front().index = 3;
  EXPECT_EQ(said(fetches.add(std::move(hostile), start)),
            (Texts{"request of x fails", "ann x release"}));
  auto twice = reply(ann, "z", piece);
  twice.held.buffers.push_back({2, 9 * piece});
  EXPECT_EQ(said(fetches.add(std::move(twice), start)),
            (Texts{"request of z fails", "ann z release"}));
  EXPECT_EQ(said(fetches.add(reply(ann, "y", std::uint64_t{1} << 62), start)),
            (Texts{"request of y fails", "ann y release"}));
  EXPECT_TRUE(fetches.is_idle());
}

TEST_F(ResultFetchesTest, AClientThatClosesReleasesAll) {
  fetches.add(reply(ann, "x", piece), start);
  fetches.add(reply(bob, "y", piece), start);
  EXPECT_EQ(said(fetches.clear()), (Texts{"ann x release", "bob y release"}));
  EXPECT_TRUE(fetches.is_idle());
}

}  // namespace
}  // namespace px::client
