#include <gtest/gtest.h>

#include "interpreters/stream_buffer.hpp"
#include "tests/wire/requests.hpp"

namespace px::interpreters {
namespace {

using namespace std::chrono_literals;
using testing::Sender;

Instant at(Duration since_start) {
  return Instant{} + since_start;
}

TEST(StreamBuffer, GathersWhatIsPrintedInAMoment) {
  StreamBuffer buffer;
  EXPECT_FALSE(buffer.add("stdout", "a", nullptr, at(0s)));
  EXPECT_FALSE(buffer.add("stdout", "b", nullptr, at(100ms)));
  EXPECT_EQ(buffer.next_deadline(), at(200ms));
  EXPECT_EQ(buffer.flush()->text, "ab");
  EXPECT_FALSE(buffer.flush());
  EXPECT_FALSE(buffer.next_deadline());
}

TEST(StreamBuffer, KeepsTheOrderOfTheTwoStreamsAndOfRequests) {
  StreamBuffer buffer;
  Sender sender;
  const RequestPtr next = sender.request("execute_request");
  buffer.add("stdout", "out", nullptr, at(0s));
  EXPECT_EQ(buffer.add("stderr", "err", nullptr, at(0s))->text, "out");
  EXPECT_EQ(buffer.add("stderr", "more", next, at(0s))->text, "err");
  EXPECT_EQ(buffer.flush()->parent, next);
}

TEST(StreamBuffer, AFloodIsCutIntoMessages) {
  StreamBuffer buffer;
  buffer.add("stdout", std::string(StreamBuffer::max_bytes, 'x'), nullptr, at(0s));
  EXPECT_EQ(buffer.add("stdout", "y", nullptr, at(0s))->text.size(), StreamBuffer::max_bytes);
}

TEST(StreamBuffer, ALineThatIsPrintedInPiecesStaysWhole) {
  StreamBuffer buffer;
  buffer.add("stdout", "1 2\n", nullptr, at(0s));
  buffer.add("stdout", "3", nullptr, at(199ms));
  EXPECT_EQ(buffer.flush_lines(at(200ms))->text, "1 2\n");
  EXPECT_EQ(buffer.next_deadline(), at(400ms));
  buffer.add("stdout", " 4\n", nullptr, at(201ms));
  EXPECT_EQ(buffer.flush_lines(at(400ms))->text, "3 4\n");
  EXPECT_FALSE(buffer.next_deadline());
}

TEST(StreamBuffer, ALineWithoutAnEndDoesNotWait) {
  StreamBuffer buffer;
  buffer.add("stdout", "done\n..", nullptr, at(0s));
  EXPECT_EQ(buffer.flush_lines(at(200ms))->text, "done\n");
  EXPECT_EQ(buffer.flush_lines(at(400ms))->text, "..");
}

TEST(StreamBuffer, AFloodIsCutBetweenLines) {
  StreamBuffer buffer;
  buffer.add("stdout", std::string(StreamBuffer::max_bytes, 'x') + "\n1", nullptr, at(0s));
  EXPECT_EQ(buffer.add("stdout", " 2\n", nullptr, at(0s))->text.back(), '\n');
  EXPECT_EQ(buffer.flush()->text, "1 2\n");
}

}  // namespace
}  // namespace px::interpreters
