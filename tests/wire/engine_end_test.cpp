#include "wire/engine_end.hpp"

#include <gtest/gtest.h>

namespace px {
namespace {

TEST(EngineEnd, NamesTheEngineItsHostTheTaskAndTheReason) {
  EXPECT_EQ(death_sentence(make_engine_end(EngineId{3}, "host2", "its process ended"), "m_1"),
            "Engine 3 on host2 died while running task 'm_1': its process ended");
}

TEST(EngineEnd, AFurtherClausePrecedesTheLinesOfTheLog) {
  const std::string log = std::string(log_clause) + ", /tmp/log:\n    | one\n    | two";
  EXPECT_EQ(with_clause("its process ended" + log, "it used 3 MiB"),
            "its process ended; it used 3 MiB" + log);
  EXPECT_EQ(with_clause("its process ended", "it used 3 MiB"), "its process ended; it used 3 MiB");
  EXPECT_EQ(with_clause("", "it used 3 MiB"), "it used 3 MiB");
}

TEST(EngineEnd, LeavesOutWhatNobodyKnows) {
  EXPECT_EQ(death_sentence(make_engine_end(EngineId{3}, "", ""), "m_1"),
            "Engine 3 died while running task 'm_1'");
}

TEST(DeathReport, IsReadAsItWasWritten) {
  DeathReport report;
  report.uuid = EngineUuid{"ann"};
  report.host = "host1";
  report.pid = 7;
  report.signal = 11;
  report.is_out_of_memory = false;
  report.log = "/log/0";
  report.last_lines = "one\ntwo";
  const auto read = read_death_report(write_death_report(report));
  ASSERT_TRUE(read);
  EXPECT_EQ(write_death_report(*read), write_death_report(report));
}

TEST(DeathReport, NamesAnEngineOrIsNone) {
  EXPECT_TRUE(read_death_report({{"uuid", "ann"}}));
  EXPECT_TRUE(read_death_report({{"host", "host1"}, {"pid", 7}}));
  EXPECT_FALSE(read_death_report({{"host", "host1"}}));
  EXPECT_FALSE(read_death_report({{"pid", 7}}));
}

TEST(DeathReport, HasNoNumberOrTextThatCannotBeMeant) {
  const auto read = read_death_report({{"uuid", "ann"},
                                       {"exit_code", -1},
                                       {"signal", 100000},
                                       {"pid", "seven"},
                                       {"last_lines", std::string(100000, 'x')}});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->exit_code, 0);
  EXPECT_EQ(read->signal, 127);
  EXPECT_EQ(read->pid, 0);
  EXPECT_LE(read->last_lines.size(), 4000u);
}

}  // namespace
}  // namespace px
