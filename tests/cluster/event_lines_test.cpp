#include "cluster/commands/event_lines.hpp"

#include <gtest/gtest.h>

namespace px::cluster {
namespace {

constexpr const char* died =
    R"({"time":"2026-11-27T10:48:25.123456Z","kind":"died","engine":3,"host":"node1","text":"its process was killed"})";
constexpr const char* started =
    R"({"time":"2026-11-27T10:00:00Z","kind":"started","engine":null,"host":null,"text":"the controller has started"})";

WallTime date_of(const char* text) {
  return *parse_date(text);
}

TEST(EventLines, AreShownWithDateKindAndEngine) {
  EXPECT_EQ(read_event_line(died)->text,
            "2026-11-27 10:48:25Z  died        engine 3 (node1): its process was killed");
  EXPECT_EQ(read_event_line(started)->text,
            "2026-11-27 10:00:00Z  started     the controller has started");
  EXPECT_EQ(read_event_line(died)->json, died);
}

TEST(EventLines, WhatIsCutOrNoEventIsLeftOut) {
  for (const char* line : {"", "{\"time\":\"2026-11-27T10:0", "[]", "{}", "{\"time\":\"now\"}"})
    EXPECT_FALSE(read_event_line(line)) << line;
}

TEST(EventLines, MoveNoCursor) {
  const auto event =
      read_event_line("{\"time\":\"2026-11-27T10:00:00Z\",\"text\":\"a\\u001b[2Jb\\nc\"}");
  EXPECT_EQ(event->text, "2026-11-27 10:00:00Z              a [2Jb c");
}

TEST(EventLines, AreChosenByDateAndNumber) {
  const std::vector<std::string> texts{std::string(started) + "\n" + died + "\n",
                                       std::string(died) + "\n" + died + "\n"};
  EXPECT_EQ(choose_events(texts, {}, 100).size(), 4U);
  EXPECT_EQ(choose_events(texts, date_of("2026-11-27T10:30:00Z"), 100).size(), 3U);
  const auto last = choose_events(texts, {}, 2);
  ASSERT_EQ(last.size(), 2U);
  EXPECT_EQ(last[0].json, died);
}

TEST(EventLines, SinceIsAnAgeOrADate) {
  const WallTime now = date_of("2026-11-27T12:00:00Z");
  EXPECT_EQ(*read_since("30s", now), date_of("2026-11-27T11:59:30Z"));
  EXPECT_EQ(*read_since("10m", now), date_of("2026-11-27T11:50:00Z"));
  EXPECT_EQ(*read_since("2h", now), date_of("2026-11-27T10:00:00Z"));
  EXPECT_EQ(*read_since("1d", now), date_of("2026-11-26T12:00:00Z"));
  EXPECT_EQ(*read_since("1.5h", now), date_of("2026-11-27T10:30:00Z"));
  EXPECT_EQ(*read_since("2026-11-27T10:48:25", now), date_of("2026-11-27T10:48:25Z"));
  for (const char* text : {"", "m", "-1m", "10", "10x", "yesterday"})
    EXPECT_EQ(read_since(text, now).error().kind, ErrorKind::bad_input) << text;
}

}  // namespace
}  // namespace px::cluster
