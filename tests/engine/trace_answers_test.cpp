#include "engine/trace_answers.hpp"

#include <gtest/gtest.h>

namespace px::engine {
namespace {

using namespace std::chrono_literals;

class TraceAnswersTest : public ::testing::Test {
 protected:
  Json ask(const Json& wish) { return answers.answer(wish, &mpi, Instant{7s}); }
  Json start(const char* id) { return ask({{"do", "start"}, {"id", id}}); }
  Json take(const char* id, bool stops = true) {
    return ask({{"do", "take"}, {"id", id}, {"stops", stops}});
  }

  jupyter::SpanLog spans;
  MpiSpans mpi;
  TraceAnswers answers{spans};
};

TEST_F(TraceAnswersTest, TellsTheTimeAloneWhereNothingElseIsAskedFor) {
  EXPECT_EQ(ask(Json::object()), (Json{{"clock", 7'000'000'000}}));
  EXPECT_EQ(ask("nonsense"), (Json{{"clock", 7'000'000'000}}));
  EXPECT_FALSE(spans.is_on());
}

TEST_F(TraceAnswersTest, StartsAndEndsARecordOfAllKinds) {
  start("a");
  EXPECT_TRUE(spans.is_on());
  EXPECT_TRUE(mpi.is_on());
  take("a", false);
  EXPECT_TRUE(spans.is_on());
  take("a");
  EXPECT_FALSE(spans.is_on());
  EXPECT_FALSE(mpi.is_on());
}

TEST_F(TraceAnswersTest, HandsOutWhatWasRecorded) {
  start("a");
  spans.add({"span", "load", Instant{1s}, Instant{2s}, 3, {{"file", "x"}}});
  MpiSpan call;
  call.call = {"MPI_Send", 77, 4, 2, 9, Instant{1s}};
  call.ended = Instant{2s};
  call.bytes = 80;
  mpi.add(call);
  const Json answer = take("a");
  EXPECT_EQ(answer["spans"].dump(), R"([["span","load",1000000000,2000000000,3,{"file":"x"}]])");
  EXPECT_EQ(answer["mpi"].dump(), R"([["MPI_Send",1000000000,0,2000000000,77,4,2,9,0,80,-1]])");
  EXPECT_EQ(answer["dropped"], 0);
  EXPECT_FALSE(answer["has_more"]);
  EXPECT_FALSE(answer["is_over"]);
}

TEST_F(TraceAnswersTest, HandsOutABoundedPartAtATime) {
  start("a");
  for (std::size_t i = 0; i <= TraceAnswers::most_spans; ++i) spans.add({"span", "x"});
  const Json first = take("a"), second = take("a");
  EXPECT_EQ(first["spans"].size(), TraceAnswers::most_spans);
  EXPECT_TRUE(first["has_more"]);
  EXPECT_EQ(second["spans"].size(), 1u);
  EXPECT_FALSE(second["has_more"]);
}

TEST_F(TraceAnswersTest, ATraceIsOverWhereAnotherOneHasBegun) {
  start("a");
  start("b");
  const Json answer = take("a");
  EXPECT_TRUE(answer["is_over"]);
  EXPECT_FALSE(answer.contains("spans"));
  EXPECT_TRUE(spans.is_on());
}

TEST_F(TraceAnswersTest, WorksInAProcessThatDoesNotSeeItsMpiCalls) {
  answers.answer({{"do", "start"}, {"id", "a"}}, nullptr, Instant{});
  const Json answer = answers.answer({{"do", "take"}, {"id", "a"}}, nullptr, Instant{});
  EXPECT_TRUE(answer["mpi"].empty());
}

}  // namespace
}  // namespace px::engine
