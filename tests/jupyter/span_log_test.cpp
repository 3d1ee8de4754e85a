#include "jupyter/span_log.hpp"

#include <gtest/gtest.h>

namespace px::jupyter {
namespace {

std::vector<std::string> names_of(const std::vector<TraceSpan>& spans) {
  std::vector<std::string> names;
  for (const TraceSpan& span : spans) names.push_back(span.name);
  return names;
}

TEST(SpanLog, NothingBeginsWhileNoTraceIsOn) {
  SpanLog log;
  EXPECT_EQ(log.begin(), std::nullopt);
  log.start();
  EXPECT_NE(log.begin(), std::nullopt);
  log.stop();
  EXPECT_EQ(log.begin(), std::nullopt);
}

TEST(SpanLog, HandsOutEachSpanOnceInTheirOrder) {
  SpanLog log;
  log.start();
  for (const char* name : {"a", "b", "c"}) log.add({.kind = "span", .name = name});
  EXPECT_EQ(names_of(log.take(2)), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(names_of(log.take(2)), (std::vector<std::string>{"c"}));
  EXPECT_TRUE(log.take(2).empty());
}

TEST(SpanLog, WhatBeganBeforeTheEndOfATraceIsStillAdded) {
  SpanLog log;
  log.start();
  log.stop();
  log.add({.kind = "request", .name = "late"});
  EXPECT_EQ(names_of(log.take(2)), (std::vector<std::string>{"late"}));
}

TEST(SpanLog, KeepsTheFirstSpansAndCountsTheRest) {
  SpanLog log;
  log.start();
  for (std::size_t i = 0; i < SpanLog::most + 3; ++i)
    log.add({.kind = "span", .name = i == 0 ? "first" : ""});
  EXPECT_EQ(log.dropped(), 3u);
  const auto kept = log.take(SpanLog::most + 3);
  EXPECT_EQ(kept.size(), SpanLog::most);
  EXPECT_EQ(kept.front().name, "first");
}

TEST(SpanLog, ANewTraceForgetsTheOneBefore) {
  SpanLog log;
  log.start();
  log.add({.kind = "span", .name = "old"});
  log.start();
  EXPECT_TRUE(log.take(2).empty());
}

}  // namespace
}  // namespace px::jupyter
