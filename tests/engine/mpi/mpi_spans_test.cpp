#include "engine/mpi/mpi_spans.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace px::engine {
namespace {

MpiSpan numbered(std::int64_t number) {
  MpiSpan span;
  span.call.name = "MPI_Barrier";
  span.bytes = number;
  span.place = static_cast<std::uint64_t>(number);
  return span;
}

TEST(MpiSpans, HandsOutEachCallOnceInTheirOrder) {
  MpiSpans spans;
  spans.start();
  for (std::int64_t i = 0; i < 5; ++i) spans.add(numbered(i));
  const auto first = spans.take(3), rest = spans.take(3);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first[2].bytes, 2);
  ASSERT_EQ(rest.size(), 2u);
  EXPECT_EQ(rest[1].bytes, 4);
  EXPECT_TRUE(spans.take(3).empty());
}

TEST(MpiSpans, BeforeTheFirstTraceThereIsNoRoom) {
  MpiSpans spans;
  EXPECT_FALSE(spans.is_on());
  spans.add(numbered(1));
  EXPECT_TRUE(spans.take(1).empty());
}

TEST(MpiSpans, KeepsTheFirstCallsAndCountsTheRest) {
  MpiSpans spans;
  spans.start();
  const auto most = static_cast<std::int64_t>(MpiSpans::most);
  for (std::int64_t i = 0; i < most + 3; ++i) spans.add(numbered(i));
  EXPECT_EQ(spans.dropped(), 3u);
  EXPECT_EQ(spans.take(1).front().bytes, 0);
  spans.add(numbered(most + 3));  // there is room again
  EXPECT_EQ(spans.dropped(), 3u);
  EXPECT_EQ(spans.take(MpiSpans::most).back().bytes, most + 3);
}

TEST(MpiSpans, ANewTraceForgetsTheOneBefore) {
  MpiSpans spans;
  spans.start();
  spans.add(numbered(1));
  spans.stop();
  spans.add(numbered(2));  // it had begun before
  EXPECT_FALSE(spans.is_on());
  spans.start();
  EXPECT_TRUE(spans.is_on());
  EXPECT_TRUE(spans.take(2).empty());
}

TEST(MpiSpans, AReaderNeverSeesHalfOfACall) {
  constexpr std::int64_t count = 300'000;
  MpiSpans spans;
  spans.start();
  std::thread writer([&spans] {
    for (std::int64_t i = 0; i < count; ++i) spans.add(numbered(i));
  });
  std::int64_t seen = 0, last = -1;
  while (seen + static_cast<std::int64_t>(spans.dropped()) < count) {
    for (const MpiSpan& span : spans.take(1000)) {
      EXPECT_EQ(static_cast<std::int64_t>(span.place), span.bytes);
      EXPECT_GT(span.bytes, last);
      last = span.bytes;
      ++seen;
    }
  }
  writer.join();
}

}  // namespace
}  // namespace px::engine
