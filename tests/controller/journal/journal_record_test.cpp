#include "controller/journal/journal_record.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "controller/journal/journal_replay.hpp"

namespace px::controller {
namespace {

SharedFrames frames(std::initializer_list<std::string_view> texts) {
  return std::make_shared<TextFrames>(texts);
}

/// A task of each kind of end: t1 is answered, t2 runs, t3 waits, t4 is forgotten.
std::vector<JournalRecord> a_day() {
  const auto task = [](std::string_view id) { return digest_of(id); };
  return {JournalBegin{"ours", 7},
          JournalSubmitted{1, MessageId{"t1"}, frames({"client", "<IDS|MSG>", "one"})},
          JournalSubmitted{2, MessageId{"t2"}, frames({"client", "<IDS|MSG>", ""})},
          JournalAssigned{task("t1"), EngineUuid{"ann"}},
          JournalAssigned{task("t2"), EngineUuid{"ann"}},
          JournalSubmitted{3, MessageId{"t3"}, frames({"client", "<IDS|MSG>", "three"})},
          JournalFinished{task("t1"), EngineUuid{"ann"}, TaskOutcome::failed, frames({"ann", "x"})},
          JournalAssigned{task("t2"), EngineUuid{"bob"}},
          JournalSubmitted{4, MessageId{"t4"}, frames({"client", "<IDS|MSG>", "four"})},
          JournalFinished{task("t4"), EngineUuid{}, TaskOutcome::ok, nullptr},
          JournalForgotten{task("t4")}};
}

std::string written(const std::vector<JournalRecord>& records) {
  std::string text{journal_magic};
  for (const JournalRecord& record : records) append_record(text, record);
  return text;
}

std::size_t count_records(std::string_view text) {
  JournalReader reader{text};
  std::size_t count = 0;
  while (reader.next()) ++count;
  return count;
}

/// "t1=ann t2>bob t3": answered by, given to, waits.
std::string owed(std::string_view text) {
  JournalReader reader{text};
  JournalReplay replay;
  while (const auto record = reader.next()) replay.read(*record);
  std::string all;
  for (const ReplayedTask& task : replay.take()) {
    all += (all.empty() ? "" : " ") + task.msg_id.text;
    if (task.is_finished || !task.engine.empty())
      all += (task.is_finished ? "=" : ">") + task.engine.text;
  }
  return all;
}

TEST(JournalRecord, IsReadAsItWasWritten) {
  const std::string text = written(a_day());
  JournalReader reader{text};
  std::string again{journal_magic};
  while (const auto record = reader.next()) append_record(again, *record);
  EXPECT_FALSE(reader.is_torn());
  EXPECT_EQ(again, text);
}

TEST(JournalRecord, ASegmentThatWasCutAnywhereGivesTheRecordsThatAreWhole) {
  const std::vector<JournalRecord> records = a_day();
  const std::string text = written(records);
  std::size_t whole = 0;
  for (std::size_t size = journal_magic.size(); size <= text.size(); ++size) {
    const bool is_end =
        size ==
        written({records.begin(), records.begin() + static_cast<std::ptrdiff_t>(whole) + 1}).size();
    if (is_end && whole < records.size()) ++whole;
    ASSERT_EQ(count_records(std::string_view(text).substr(0, size)), whole) << size;
    if (whole == records.size()) break;
  }
  EXPECT_EQ(whole, records.size());
}

TEST(JournalRecord, AChangedByteCostsItsRecordAndIsNamed) {
  const std::vector<JournalRecord> records = a_day();
  const std::string text = written(records);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    JournalReader reader{changed};
    std::size_t count = 0;
    while (reader.next()) ++count;
    const bool is_in_head = at < journal_magic.size();
    ASSERT_EQ(count, records.size() - (is_in_head ? 0 : 1)) << at;
    ASSERT_EQ(reader.damages().size(), 1u) << at;
    const auto [offset, bytes] = reader.damages()[0];
    ASSERT_TRUE(offset <= at && at < offset + bytes) << at;
    ASSERT_FALSE(reader.is_other_version());
  }
}

TEST(JournalRecord, TwoDamagedPlacesAreNamedApart) {
  std::string text = written(a_day());
  const std::size_t second = written({a_day()[0]}).size(), end = text.size();
  text[second] = 'x';
  text.back() = static_cast<char>(text.back() ^ 1);
  JournalReader reader{text};
  while (reader.next()) continue;
  ASSERT_EQ(reader.damages().size(), 2u);
  EXPECT_EQ(reader.damages()[0].offset, second);
  EXPECT_EQ(reader.damages()[1].offset + reader.damages()[1].bytes, end);
  EXPECT_TRUE(reader.is_torn());
}

TEST(JournalRecord, AFileOfSomethingElseHasNoRecords) {
  EXPECT_EQ(count_records(""), 0u);
  JournalReader other{"pxjrnl9\nand so on"};
  EXPECT_FALSE(other.next());
  EXPECT_TRUE(other.is_other_version());
  JournalReader reader{"text"};
  EXPECT_FALSE(reader.next());
  EXPECT_TRUE(reader.is_torn());
  EXPECT_FALSE(reader.is_other_version());
}

TEST(JournalReplay, TellsWhatIsOwedAfterEachRecord) {
  const std::vector<JournalRecord> records = a_day();
  const std::vector<std::string> states{"",
                                        "t1",
                                        "t1 t2",
                                        "t1>ann t2",
                                        "t1>ann t2>ann",
                                        "t1>ann t2>ann t3",
                                        "t1=ann t2>ann t3",
                                        "t1=ann t2>bob t3",
                                        "t1=ann t2>bob t3 t4",
                                        "t1=ann t2>bob t3 t4=",
                                        "t1=ann t2>bob t3"};
  for (std::size_t i = 0; i < records.size(); ++i)
    EXPECT_EQ(
        owed(written({records.begin(), records.begin() + static_cast<std::ptrdiff_t>(i) + 1})),
        states[i])
        << i;
}

TEST(JournalReplay, AKillAtAnyByteLeavesTheStateAfterSomeRecord) {
  const std::string text = written(a_day());
  std::string last;
  std::size_t changes = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string now = owed(std::string_view(text).substr(0, size));
    changes += now == last ? 0 : 1;
    last = now;
  }
  EXPECT_EQ(changes, a_day().size() - 1);  // each record but the first one changes it once
  EXPECT_EQ(last, "t1=ann t2>bob t3");
}

TEST(JournalReplay, ACopyOfASubmissionBehindItsAnswerChangesNothing) {
  std::vector<JournalRecord> records = a_day();
  records.push_back(records[1]);
  EXPECT_EQ(owed(written(records)), "t1=ann t2>bob t3");
}

TEST(JournalReplay, ATaskThatIsAskedForAgainAfterItWasForgottenIsANewOne) {
  std::vector<JournalRecord> records = a_day();
  records.push_back(JournalSubmitted{5, MessageId{"t4"}, frames({"client", "<IDS|MSG>", "four"})});
  EXPECT_EQ(owed(written(records)), "t1=ann t2>bob t3 t4");
}

}  // namespace
}  // namespace px::controller
