#include "client/records/jobs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace px::client {
namespace {

constexpr const char* noon = "2026-11-22T12:00:00Z";
constexpr const char* a_minute_later = "2026-11-22T12:01:00Z";

Json cell(const std::string& id, const std::string& code, const std::string& date = noon) {
  return {{"msg_id", id},
          {"header", {{"msg_type", "execute_request"}, {"username", "ada"}}},
          {"content", {{"code", code}}},
          {"label", "train"},
          {"submitted", date},
          {"completed", nullptr},
          {"client_uuid", "0123456789"},
          {"engine_uuid", nullptr},
          {"result_content", nullptr}};
}

Json ended(Json record, const std::string& status) {
  record["completed"] = noon;
  record["result_content"] = {{"status", status}};
  return record;
}

std::vector<Job> jobs_of(const Json& records, const std::vector<std::string>& running = {}) {
  return jobs_of_records(records, running, EngineDirectory{});
}

TEST(Jobs, RequestsOfTheSameMomentAreInTheOrderInWhichTheyWereMade) {
  const auto jobs = jobs_of({cell("s_10", "x"), cell("s_9", "x"), cell("s_8", "x")});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].ids, (std::vector{MessageId{"s_8"}, MessageId{"s_9"}, MessageId{"s_10"}}));
}

TEST(Jobs, TheRequestsOfOneCellAreOneJob) {
  const auto jobs = jobs_of({cell("1", "x = 1"), cell("2", "x = 1"), cell("3", "y = 1")}, {"2"});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].ids.size(), 2u);
  EXPECT_EQ(jobs[0].running, 1u);
  EXPECT_EQ(jobs[0].waiting, 1u);
  EXPECT_EQ(jobs[0].text, "x = 1");
  EXPECT_EQ(jobs[0].user, "ada");
}

TEST(Jobs, TheSameCellAMinuteLaterIsAnotherJob) {
  const auto jobs = jobs_of({cell("2", "x = 1", a_minute_later), cell("1", "x = 1")});
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].ids.front().text, "1");
}

TEST(Jobs, WhatHasEndedIsDoneOrFailed) {
  const auto jobs = jobs_of({ended(cell("1", "x"), "ok"), ended(cell("2", "x"), "error")});
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].done, 1u);
  EXPECT_EQ(jobs[0].failed, 1u);
}

TEST(Jobs, ATableSaysWhoSubmittedWhatAndSinceWhen) {
  const auto now = parse_date(a_minute_later).value();
  const std::string text =
      jobs_as_text(jobs_of(Json::array({cell("1", "\nfit()\nmore()")}), {"1"}), now);
  EXPECT_EQ(text,
            "submitted      by   session   engines  state    label  what\n"
            "1 min 0 s ago  ada  01234567  -        running  train  execute: fit()\n");
  EXPECT_EQ(jobs_as_text({}, now), "no jobs\n");
}

TEST(Jobs, AMalformedRecordIsAJobOfWhichLittleIsKnown) {
  const auto jobs =
      jobs_of({Json::object(), {{"msg_id", 3}, {"header", 4}, {"content", "x"}}, "no record"});
  ASSERT_FALSE(jobs.empty());
  EXPECT_FALSE(jobs_as_text(jobs, parse_date(noon).value()).empty());
  EXPECT_TRUE(jobs_as_json(jobs).is_array());
}

}  // namespace
}  // namespace px::client
