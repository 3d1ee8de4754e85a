#include "controller/journal/journal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "controller/journal/folder_storage.hpp"
#include "tests/controller/journal/memory_storage.hpp"
#include "tests/controller/journal/slow_disk.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::controller {
namespace {

using Storage = std::shared_ptr<MemoryStorage>;
const EngineUuid ann{"ann"};

SharedFrames request(std::size_t bytes = 10) {
  return std::make_shared<TextFrames>(
      std::vector<std::string>{"client", "<IDS|MSG>", std::string(bytes, 'x')});
}

JournalOptions small(std::size_t results = 2, std::size_t segment_bytes = 1000) {
  JournalOptions options;
  options.cluster = "ours";
  options.limits.results = results;
  options.limits.segment_bytes = segment_bytes;
  return options;
}

/// "t1=ann t2>bob t3", as in the tests of records; "?" where a reply was not kept.
std::string owed(Journal& journal) {
  std::string all;
  for (const ReplayedTask& task : journal.replay()) {
    all += (all.empty() ? "" : " ") + task.msg_id.text;
    if (task.is_finished || !task.engine.empty())
      all += (task.is_finished ? "=" : ">") + task.engine.text;
    if (task.is_finished && !task.reply) all += "?";
  }
  return all;
}

/// What a controller would find that is started now.
std::string found(const Storage& storage, const JournalOptions& options = small()) {
  Journal journal{storage, options};
  return owed(journal);
}

void submit(Journal& journal, const std::string& id, std::size_t bytes = 10) {
  journal.submitted(MessageId{id}, *request(bytes));
  ASSERT_TRUE(journal.commit());
}

void finish(Journal& journal, const std::string& id) {
  journal.finished(MessageId{id}, ann, TaskOutcome::ok, request());
  ASSERT_TRUE(journal.commit());
}

TEST(Journal, HasWhatWasCommittedAndNotWhatWasPutAside) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  EXPECT_EQ(owed(journal), "");
  submit(journal, "t1");
  submit(journal, "t2");
  journal.assigned(MessageId{"t1"}, ann);
  EXPECT_EQ(found(storage), "t1 t2");
  ASSERT_TRUE(journal.commit());
  EXPECT_EQ(found(storage), "t1>ann t2");
  finish(journal, "t1");
  EXPECT_EQ(found(storage), "t1=ann t2");
}

TEST(Journal, ATaskThatAnEngineGaveBackIsNobodys) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  submit(journal, "t1");
  journal.assigned(MessageId{"t1"}, ann);
  ASSERT_TRUE(journal.commit());
  journal.assigned(MessageId{"t1"}, {});
  ASSERT_TRUE(journal.commit());
  EXPECT_EQ(found(storage), "t1");
}

TEST(Journal, GoesOnBehindWhatAnEarlierOneWrote) {
  const auto storage = std::make_shared<MemoryStorage>();
  {
    Journal journal{storage, small()};
    submit(journal, "t1");
    submit(journal, "t2");
  }
  {
    Journal journal{storage, small()};
    EXPECT_EQ(owed(journal), "t1 t2");
    submit(journal, "t2");  // its client sent it again
    submit(journal, "t3");
    finish(journal, "t1");
  }
  EXPECT_EQ(found(storage), "t1=ann t2 t3");
}

TEST(Journal, OfAnotherClusterIsDropped) {
  const auto storage = std::make_shared<MemoryStorage>();
  {
    Journal journal{storage, small()};
    submit(journal, "t1");
  }
  JournalOptions other = small();
  other.cluster = "theirs";
  Journal journal{storage, other};
  EXPECT_EQ(owed(journal), "");
  submit(journal, "t2");
  EXPECT_EQ(storage->count(), 1u);
  EXPECT_EQ(found(storage, other), "t2");
}

TEST(Journal, KeepsTheLatestResultsOnly) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small(2)};
  for (int i = 1; i <= 5; ++i) {
    submit(journal, "t" + std::to_string(i));
    finish(journal, "t" + std::to_string(i));
  }
  submit(journal, "t6");
  EXPECT_EQ(found(storage), "t4=ann t5=ann t6");
}

TEST(Journal, DoesNotGrowWhileTasksComeAndGoThoughOneWaits) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  submit(journal, "t0");
  std::size_t most = 0;
  for (int i = 1; i <= 2000; ++i) {
    submit(journal, "t" + std::to_string(i));
    finish(journal, "t" + std::to_string(i));
    most = std::max(most, storage->bytes());
  }
  EXPECT_LT(most, 10'000u);
  EXPECT_EQ(journal.bytes(), storage->bytes());
  EXPECT_EQ(found(storage), "t0 t1998=ann t1999=ann t2000=ann");
}

TEST(Journal, RefusesWhatAFullDiskDoesNotTakeAndGoesOnWhenThereIsRoom) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  submit(journal, "t1");
  storage->set_full(true);
  journal.submitted(MessageId{"t2"}, *request());
  const auto refused = journal.commit();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  EXPECT_EQ(refused.error().what,
            "the journal of tasks cannot be written (No space left on device): make room there and "
            "call again, or start the controller with --journal=off");
  journal.finished(MessageId{"t1"}, ann, TaskOutcome::ok, request());
  EXPECT_FALSE(journal.commit());
  EXPECT_EQ(found(storage), "t1");
  storage->set_full(false);
  submit(journal, "t3");
  EXPECT_EQ(found(storage), "t1=ann? t3");  // that it is answered is known, its reply is not
}

TEST(Journal, WritesWhoWasGivenATaskWhenThereIsRoomAgain) {
  const auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  submit(journal, "t1");
  submit(journal, "t2");
  storage->set_full(true);
  journal.assigned(MessageId{"t1"}, ann);
  EXPECT_FALSE(journal.commit());
  journal.assigned(MessageId{"t2"}, ann);
  EXPECT_FALSE(journal.commit());
  storage->set_full(false);
  journal.assigned(MessageId{"t1"}, EngineUuid{"bob"});
  EXPECT_TRUE(journal.commit());
  EXPECT_EQ(found(storage), "t1>bob t2>ann");
}

TEST(Journal, TriesNothingUntilTheDiskAcceptsAgain) {
  const auto storage = std::make_shared<MemoryStorage>();
  storage->say_when_full();
  Journal journal{storage, small()};
  for (int i = 1; i <= 1000; ++i) submit(journal, "t" + std::to_string(i));
  const std::size_t writes = storage->writes();
  storage->set_full(true);
  for (int i = 1; i <= 1000; ++i) {
    journal.assigned(MessageId{"t" + std::to_string(i)}, ann);
    EXPECT_FALSE(journal.commit());
  }
  storage->set_full(false);
  ASSERT_TRUE(journal.commit());
  EXPECT_EQ(storage->writes(), writes + 1);
  EXPECT_EQ(found(storage).substr(0, 20), "t1>ann t2>ann t3>ann");
}

TEST(Journal, OfTheModePowerRemovesNothingWhoseCopiesAreNotOnTheDisk) {
  const auto storage = std::make_shared<MemoryStorage>();
  storage->fail_to_sync();
  JournalOptions options = small();
  options.mode = JournalMode::power;
  Journal journal{storage, options, std::make_unique<SlowDisk>()};
  submit(journal, "t0");
  for (int i = 1; i <= 200; ++i) {
    submit(journal, "t" + std::to_string(i));
    finish(journal, "t" + std::to_string(i));
  }
  EXPECT_EQ((*storage->segments()).front(), 1u);
}

// ---------------------------------------------------------------- what is damaged

/// A journal of 100 tasks in several segments.
Storage hundred_tasks() {
  auto storage = std::make_shared<MemoryStorage>();
  Journal journal{storage, small()};
  for (int i = 1; i <= 100; ++i) submit(journal, "t" + std::to_string(i));
  return storage;
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string all;
  for (const std::string& sentence : sentences) all += sentence + "\n";
  return all;
}

TEST(DamagedJournal, LosesOneTaskOfAChangedBitAndNamesThePlace) {
  const auto storage = hundred_tasks();
  storage->change([](auto& texts) { texts.at(2)[300] ^= 1; });
  Journal journal{storage, small()};
  EXPECT_EQ(journal.replay().size(), 99u);
  const std::string errors = joined(journal.take_errors());
  EXPECT_TRUE(errors.starts_with("segment 2 is damaged: ")) << errors;
  EXPECT_TRUE(errors.ends_with("the file will be kept as segment 2.damaged\n")) << errors;
}

TEST(DamagedJournal, OfAThousandChangedBitsNoneIsLostInSilence) {
  const auto storage = hundred_tasks();
  std::map<SegmentNumber, std::string> whole;
  storage->change([&](auto& texts) { whole = texts; });
  std::mt19937 random{1};
  for (int i = 0; i < 1000; ++i) {
    storage->change([&](auto& texts) {
      texts = whole;
      auto text = std::next(texts.begin(), static_cast<std::ptrdiff_t>(random() % texts.size()));
      text->second[random() % text->second.size()] ^= static_cast<char>(1 << random() % 8);
    });
    Journal journal{storage, small()};
    const std::size_t tasks = journal.replay().size();
    ASSERT_GE(tasks, 99u) << i;
    ASSERT_EQ(journal.take_errors().size(), 1u) << i;
  }
}

TEST(DamagedJournal, OfSegmentsThatAreCutAnywhereNoneIsLostInSilence) {
  const auto storage = hundred_tasks();
  std::map<SegmentNumber, std::string> whole;
  storage->change([&](auto& texts) { whole = texts; });
  for (std::size_t size = 1; size < whole.at(2).size(); ++size) {
    storage->change([&](auto& texts) {
      texts = whole;
      texts.at(2).resize(size);
    });
    Journal journal{storage, small()};
    const bool is_all = journal.replay().size() == 100;
    ASSERT_TRUE(is_all || !journal.take_errors().empty()) << size;
  }
}

TEST(DamagedJournal, NamesASegmentThatIsCutBetweenTwoRecords) {
  const auto storage = hundred_tasks();
  storage->change([](auto& texts) {
    std::string& text = texts.at(2);
    text.resize(text.rfind(record_mark));
  });
  Journal journal{storage, small()};
  EXPECT_EQ(journal.replay().size(), 99u);
  const std::string errors = joined(journal.take_errors());
  EXPECT_TRUE(errors.starts_with("segment 2 is cut: ")) << errors;
}

TEST(DamagedJournal, IsKeptWhenItsTasksAreWrittenElsewhere) {
  const auto storage = hundred_tasks();
  storage->change([](auto& texts) { texts.at(1)[300] ^= 1; });
  std::string damaged;
  storage->change([&](auto& texts) { damaged = texts.at(1); });
  Journal journal{storage, small()};
  const std::vector<ReplayedTask> tasks = journal.replay();
  for (const ReplayedTask& task : tasks) finish(journal, task.msg_id.text);
  submit(journal, "t101");
  EXPECT_EQ(storage->aside(), (std::map<SegmentNumber, std::string>{{1, damaged}}));
}

TEST(DamagedJournal, NamesFilesThatAreMissing) {
  const auto storage = hundred_tasks();
  storage->change([](auto& texts) { texts.erase(2); });
  Journal journal{storage, small()};
  EXPECT_LT(journal.replay().size(), 100u);
  EXPECT_EQ(joined(journal.take_errors()),
            "the journal's files between segment 1 and segment 3 are missing: tasks that were only "
            "there are lost\n");
}

TEST(DamagedJournal, OfAnotherVersionIsSetAside) {
  const auto storage = std::make_shared<MemoryStorage>();
  ASSERT_TRUE(storage->write(1, 0, "pxjrnl1\nsome records"));
  Journal journal{storage, small()};
  EXPECT_EQ(journal.replay().size(), 0u);
  EXPECT_EQ(
      joined(journal.take_errors()),
      "segment 1 was written by another version of polyxeus, and its tasks are not continued: "
      "start the controller of that version to finish them; the file is kept as segment "
      "1.damaged\n");
  EXPECT_EQ(storage->aside().size(), 1u);
  submit(journal, "t1");
  EXPECT_EQ(found(storage), "t1");
}

TEST(DamagedJournal, TakesATaskAgainOfWhichOnlyTheAnswerIsLeft) {
  const auto storage = std::make_shared<MemoryStorage>();
  {
    Journal journal{storage, small()};
    submit(journal, "t1");
    finish(journal, "t1");
  }
  storage->change([](auto& texts) {
    std::string& text = texts.at(1);
    text[text.find("t1")] = 'x';
  });
  Journal journal{storage, small()};
  EXPECT_EQ(owed(journal), "");
  submit(journal, "t1");
  EXPECT_EQ(found(storage), "t1=ann");
}

TEST(Journal, LeavesOutWhatIsTooLong) {
  const auto storage = std::make_shared<MemoryStorage>();
  JournalOptions options = small();
  options.longest = 100;
  Journal journal{storage, options};
  submit(journal, "t1", 1000);
  submit(journal, "t2");
  journal.finished(MessageId{"t1"}, ann, TaskOutcome::ok, request());
  journal.finished(MessageId{"t2"}, ann, TaskOutcome::ok, request(1000));
  ASSERT_TRUE(journal.commit());
  EXPECT_EQ(found(storage), "t2=ann?");
}

TEST(Journal, OfTheModePowerHasOnTheDiskWhatItCallsDurable) {
  const auto storage = std::make_shared<MemoryStorage>();
  JournalOptions options = small();
  options.mode = JournalMode::power;
  net::Loop loop;
  Journal journal{storage, options, loop.waker()};
  journal.submitted(MessageId{"t1"}, *request());
  const auto ticket = journal.commit();
  ASSERT_TRUE(ticket);
  loop.on_wake([] {});
  while (!journal.is_durable(*ticket)) loop.wait_until(Clock::now() + std::chrono::seconds(20));
  storage->lose_power();
  EXPECT_EQ(found(storage), "t1");
}

TEST(Journal, OfTheModePowerHasOnTheDiskWhatItFound) {
  const auto storage = std::make_shared<MemoryStorage>();
  {
    Journal earlier{storage, small()};
    submit(earlier, "t1");
  }
  JournalOptions options = small();
  options.mode = JournalMode::power;
  EXPECT_EQ(found(storage, options), "t1");
  storage->lose_power();
  EXPECT_EQ(found(storage), "t1");
}

TEST(Journal, OfTheModePowerTakesNothingMoreWhenTheDiskHasFailed) {
  const auto storage = std::make_shared<MemoryStorage>();
  storage->fail_to_sync();
  JournalOptions options = small();
  options.mode = JournalMode::power;
  net::Loop loop;
  Journal journal{storage, options, loop.waker()};
  journal.submitted(MessageId{"t1"}, *request());
  const auto ticket = journal.commit();
  ASSERT_TRUE(ticket);
  loop.on_wake([] {});
  while (!journal.failure()) loop.wait_until(Clock::now() + std::chrono::seconds(20));
  EXPECT_FALSE(journal.is_durable(*ticket));
  journal.submitted(MessageId{"t2"}, *request());
  ASSERT_FALSE(journal.commit());
}

/// Tasks come, run and end at random; whenever the controller is killed, also while it writes, the
/// next one finds what there was at the last commit, or what was being committed.
TEST(Journal, KilledAtAnyTimeOwesWhatItOwed) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::size_t limit) { return random() % limit; };
    const auto storage = std::make_shared<MemoryStorage>();
    auto journal = std::make_unique<Journal>(storage, small(1000, 400));
    std::map<int, std::string> model;  // task -> ">e1", "=ann" or ""
    const auto all_of = [](const std::map<int, std::string>& tasks) {
      std::string all;
      for (const auto& [task, state] : tasks)
        all += (all.empty() ? "t" : " t") + std::to_string(task) + state;
      return all;
    };
    int next = 0, busy = 0;
    for (int step = 0; step < 1500; ++step) {
      std::map<int, std::string> after = model;
      const std::size_t what = below(20);
      const auto unanswered = std::count_if(model.begin(), model.end(), [](const auto& each) {
        return each.second != "=ann";
      });
      if (below(10) == 0) storage->die_in_write(1 + static_cast<int>(below(2)), below(400));
      try {
        if (what < 4 && unanswered < 10 && model.size() < 60) {
          after[++next] = "";
          submit(*journal, "t" + std::to_string(next), below(60));
        } else if (what < 19 && !model.empty()) {
          // One is given to engines again and again, and then rests.
          if (below(6) == 0)
            busy = std::next(after.begin(), static_cast<std::ptrdiff_t>(below(after.size())))->first;
          const auto task = after.find(busy);
          if (task == after.end() || task->second == "=ann") continue;
          const std::string id = "t" + std::to_string(task->first);
          if (what == 18) {
            task->second = "=ann";
            finish(*journal, id);
          } else {
            const std::string engine = "e" + std::to_string(below(4));
            task->second = ">" + engine;
            journal->assigned(MessageId{id}, EngineUuid{engine});
            ASSERT_TRUE(journal->commit());
          }
        } else if (what == 19) {
          journal.reset();
          journal = std::make_unique<Journal>(storage, small(1000, 400));
          ASSERT_EQ(owed(*journal), all_of(model)) << seed << " " << step;
          ASSERT_LT(storage->bytes(), 25'000u);
        }
        model = after;
      } catch (const Died&) {
        journal = std::make_unique<Journal>(storage, small(1000, 400));
        const std::string left = owed(*journal);
        if (left != all_of(model)) {
          ASSERT_EQ(left, all_of(after)) << seed << " " << step;
          model = after;
        }
      }
    }
  }
}

class FolderStorageTest : public testing::Test {
 protected:
  const os::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(FolderStorageTest, KeepsSegmentsInTheOrderOfTheirNumbers) {
  const auto storage = *FolderStorage::open(folder_ + "/journal");
  ASSERT_TRUE(storage->write(9, 0, "nine"));
  ASSERT_TRUE(storage->write(10, 0, "te"));
  ASSERT_TRUE(storage->write(10, 2, "n"));
  ASSERT_TRUE(storage->sync());
  EXPECT_EQ(*storage->segments(), (std::vector<SegmentNumber>{9, 10}));
  EXPECT_EQ(*storage->read(10), "ten");
  ASSERT_TRUE(storage->remove(9));
  EXPECT_EQ(*storage->segments(), std::vector<SegmentNumber>{10});
  EXPECT_FALSE(storage->read(9));
  const auto mode = [](const std::string& path) {
    return std::filesystem::status(path).permissions();
  };
  EXPECT_EQ(mode(folder_ + "/journal"), std::filesystem::perms::owner_all);
  EXPECT_EQ(mode(folder_ + "/journal/0000000010.journal"),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(FolderStorageTest, IsRemovedWithAllSegmentsButNothingElse) {
  const auto storage = *FolderStorage::open(folder_);
  ASSERT_TRUE(storage->write(1, 0, "one"));
  remove_journal(folder_);
  EXPECT_FALSE(std::filesystem::exists(folder_));
  remove_journal(folder_);  // there is none
}

TEST_F(FolderStorageTest, KeepsWhatWasSetAside) {
  const auto storage = *FolderStorage::open(folder_);
  ASSERT_TRUE(storage->write(1, 0, "one"));
  ASSERT_TRUE(storage->set_aside(1));
  EXPECT_TRUE(storage->segments()->empty());
  remove_journal(folder_);
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/0000000001.journal.damaged"));
}

TEST_F(FolderStorageTest, SaysWhyNothingCanBeWritten) {
  const auto storage = *FolderStorage::open(folder_);
  std::filesystem::remove_all(folder_);
  const auto written = storage->write(1, 0, "one");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().what,
            "cannot write " + folder_ + "/0000000001.journal: No such file or directory");
}

TEST_F(FolderStorageTest, AJournalSurvivesInIt) {
  {
    Journal journal{*FolderStorage::open(folder_), small()};
    submit(journal, "t1");
    submit(journal, "t2", 5000);
    finish(journal, "t1");
  }
  Journal journal{*FolderStorage::open(folder_), small()};
  EXPECT_EQ(owed(journal), "t1=ann t2");
}

TEST_F(FolderStorageTest, AJournalDoesNotKeepRemovedSegmentsOpen) {
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/fd"}, {});
  };
  Journal journal{*FolderStorage::open(folder_), small()};
  const auto before = open_files();
  for (int i = 0; i < 100; ++i) {
    submit(journal, "t" + std::to_string(i), 1000);
    finish(journal, "t" + std::to_string(i));
  }
  EXPECT_LT(open_files() - before, 20);
}

}  // namespace
}  // namespace px::controller
