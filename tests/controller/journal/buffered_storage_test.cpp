#include "controller/journal/buffered_storage.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "controller/journal/journal.hpp"
#include "tests/controller/journal/memory_storage.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::controller {
namespace {

using namespace std::chrono_literals;

class JournalBufferTest : public testing::Test {
 protected:
  std::unique_ptr<JournalBuffer> open(std::size_t capacity = 10'000) {
    return *JournalBuffer::open(folder_ + "/name", folder_, capacity);
  }
  /// "1+0:one 1+3:two": segment, offset and text of each entry.
  static std::string content(const JournalBuffer& buffer) {
    std::string all;
    for (const JournalBuffer::BufferedWrite& entry : buffer.entries())
      all += (all.empty() ? "" : " ") + std::to_string(entry.segment) + "+" +
             std::to_string(entry.offset) + ":" + text_of(buffer, entry);
    return all;
  }
  static std::string text_of(const JournalBuffer& buffer,
                             const JournalBuffer::BufferedWrite& entry) {
    const auto [text, rest] = buffer.text_of(entry);
    return std::string(text) += rest;
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator{}));
  }
  const os::TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path().string();
};

TEST_F(JournalBufferTest, GivesBackWhatItTookInItsOrder) {
  const auto buffer = open();
  ASSERT_TRUE(buffer->push(1, 0, "one"));
  ASSERT_TRUE(buffer->push(1, 3, std::string(5000, 'x')));
  ASSERT_TRUE(buffer->push(2, 0, ""));
  EXPECT_EQ(content(*buffer), "1+0:one 1+3:" + std::string(5000, 'x') + " 2+0:");
  buffer->pop(buffer->entries().front());
  buffer->pop(buffer->entries().front());
  EXPECT_EQ(content(*buffer), "2+0:");
}

TEST_F(JournalBufferTest, OutlivesItsProcess) {
  {
    const auto buffer = open();
    ASSERT_TRUE(buffer->push(1, 0, "one"));
    ASSERT_TRUE(buffer->push(1, 3, "two"));
    buffer->pop(buffer->entries().front());
  }
  EXPECT_EQ(content(*open()), "1+3:two");
}

TEST_F(JournalBufferTest, RefusesWhatItHasNoRoomForAndTakesItLater) {
  const auto buffer = open();
  const std::string text(2000, 'x');
  std::size_t pushed = 0;
  for (int i = 0; i < 100; ++i) {  // many times around
    while (buffer->push(1, pushed, text)) ++pushed;
    const auto refused = buffer->push(1, 0, text);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
    const auto entries = buffer->entries();
    ASSERT_EQ(entries.size(), 4u);
    for (const auto& entry : entries) ASSERT_EQ(text_of(*buffer, entry), text);
    buffer->pop(entries[0]);
  }
  EXPECT_EQ(pushed, 103u);
}

TEST_F(JournalBufferTest, IsMadeAnewWhereTheFileIsGoneOrIsNone) {
  { ASSERT_TRUE(open()->push(1, 0, "one")); }
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    if (entry.path().filename() != "name") std::filesystem::resize_file(entry.path(), 0);
  EXPECT_EQ(content(*open()), "");
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    if (entry.path().filename() != "name") std::filesystem::remove(entry.path());
  EXPECT_EQ(content(*open()), "");
}

TEST_F(JournalBufferTest, IsRemovedByItsName) {
  { ASSERT_TRUE(open()->push(1, 0, "one")); }
  EXPECT_EQ(files(), 2u);
  JournalBuffer::remove(folder_ + "/name");
  EXPECT_EQ(files(), 0u);
  JournalBuffer::remove(folder_ + "/name");  // there is none
}

class BufferedStorageTest : public JournalBufferTest {
 protected:
  std::unique_ptr<BufferedStorage> buffered(std::size_t capacity = 100'000) {
    return std::make_unique<BufferedStorage>(disk_, open(capacity), times_);
  }
  static JournalOptions options(JournalMode mode = JournalMode::process) {
    JournalOptions options;
    options.mode = mode;
    options.cluster = "ours";
    return options;
  }
  static bool submit(Journal& journal, const std::string& id) {
    journal.submitted(MessageId{id}, TextFrames{"client", "<IDS|MSG>", id});
    return journal.commit().has_value();
  }
  static std::string tasks(Journal& journal) {
    std::string all;
    for (const ReplayedTask& task : journal.replay()) all += task.msg_id.text + " ";
    return all;
  }
  const std::shared_ptr<MemoryStorage> disk_ = std::make_shared<MemoryStorage>();
  BufferedStorage::Times times_{.retry = 1ms};
};

TEST_F(BufferedStorageTest, BringsAllToTheDiskBeforeItEnds) {
  {
    const std::shared_ptr<BufferedStorage> storage = buffered();
    Journal journal{storage, options()};
    for (int i = 1; i <= 500; ++i) ASSERT_TRUE(submit(journal, "t" + std::to_string(i)));
  }
  Journal journal{disk_, options()};
  EXPECT_EQ(journal.replay().size(), 500u);
  EXPECT_EQ(files(), 0u);
}

TEST_F(BufferedStorageTest, GathersWhatComesWhileTheDiskIsBusy) {
  const std::shared_ptr<BufferedStorage> storage = buffered();
  disk_->set_hanging(true);
  Journal journal{storage, options()};
  ASSERT_TRUE(submit(journal, "t0"));
  disk_->wait_until_used();
  for (int i = 1; i <= 100; ++i) ASSERT_TRUE(submit(journal, "t" + std::to_string(i)));
  disk_->set_hanging(false);
  ASSERT_TRUE(storage->sync());
  EXPECT_LE(disk_->writes(), 2u);
}

TEST_F(BufferedStorageTest, TakesTasksWhileTheDiskHangsAndTheNextProcessHasThem) {
  times_.end = 0ms;
  {
    const std::shared_ptr<BufferedStorage> storage = buffered();
    Journal journal{storage, options()};
    ASSERT_TRUE(submit(journal, "t1"));
    ASSERT_TRUE(storage->sync());
    disk_->set_hanging(true);
    for (int i = 2; i <= 9; ++i) ASSERT_TRUE(submit(journal, "t" + std::to_string(i)));
    disk_->wait_until_used();
  }
  // As if the process had ended: its thread hangs for ever.
  const auto next_disk = std::make_shared<MemoryStorage>();
  next_disk->change([&](auto& texts) { disk_->change([&](auto& old) { texts = old; }); });
  const auto storage = std::make_shared<BufferedStorage>(next_disk, open(), times_);
  Journal journal{storage, options()};
  EXPECT_EQ(tasks(journal), "t1 t2 t3 t4 t5 t6 t7 t8 t9 ");
  ASSERT_TRUE(storage->sync());
  Journal written{next_disk, options()};
  EXPECT_EQ(written.replay().size(), 9u);
}

TEST_F(BufferedStorageTest, SaysThatTheDiskHangsAndThatItAnswersAgain) {
  times_.patience = 0ms;
  const auto storage = buffered();
  EXPECT_FALSE(storage->trouble());
  disk_->set_hanging(true);
  ASSERT_TRUE(storage->write(1, 0, "one"));
  disk_->wait_until_used();
  EXPECT_EQ(storage->trouble(), "the disk has not answered for 0 s");
  EXPECT_TRUE(storage->accepts());
  EXPECT_EQ(storage->take_errors(),
            std::vector<std::string>{"the disk does not answer: until it does, new requests "
                                     "survive the end of the controller but not that of its host"});
  EXPECT_TRUE(storage->take_errors().empty());
  disk_->set_hanging(false);
  ASSERT_TRUE(storage->sync());
  EXPECT_FALSE(storage->trouble());
  EXPECT_EQ(storage->take_errors(), std::vector<std::string>{"the disk answers again"});
}

TEST_F(BufferedStorageTest, RefusesWhenItsMemoryIsFull) {
  times_.slowness = 1ms;
  const std::shared_ptr<BufferedStorage> storage = buffered(5000);
  disk_->set_hanging(true);
  std::uint64_t end = 0;
  while (storage->write(1, end, std::string(1000, 'x'))) end += 1000;
  EXPECT_EQ(end, 4000u);
  EXPECT_FALSE(storage->accepts());
  EXPECT_EQ(storage->trouble(), "the data that waits for the disk has filled its shared memory");
  disk_->set_hanging(false);
  ASSERT_TRUE(storage->sync());
  EXPECT_TRUE(storage->accepts());
  EXPECT_EQ(storage->read(1)->size(), 4000u);
}

TEST_F(BufferedStorageTest, WritesToTheDiskItselfWhatItHasNoMemoryFor) {
  const std::shared_ptr<BufferedStorage> storage = buffered(5000);
  ASSERT_TRUE(storage->write(1, 0, std::string(6000, 'x')));
  EXPECT_EQ(disk_->read(1)->size(), 6000u);
}

TEST_F(BufferedStorageTest, WaitsForADiskThatIsSlow) {
  const std::shared_ptr<BufferedStorage> storage = buffered(5000);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string text(1700, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(storage->write(1, all.size(), text));
    all += text;
  }
  ASSERT_TRUE(storage->sync());
  EXPECT_EQ(*disk_->read(1), all);
}

TEST_F(BufferedStorageTest, TriesAFullDiskAgainAndWakesWhoWaitsForIt) {
  const std::shared_ptr<BufferedStorage> storage = buffered();
  disk_->set_full(true);
  net::Loop loop;
  bool is_awake = false;
  loop.on_wake([&] { is_awake = true; });
  const auto wait = [&] {
    is_awake = false;
    do loop.wait_until(Clock::now() + 20s);
    while (!is_awake);
  };
  Journal journal{storage, options(), loop.waker()};
  ASSERT_TRUE(submit(journal, "t1"));
  wait();
  EXPECT_FALSE(storage->accepts());
  EXPECT_FALSE(submit(journal, "t2"));
  EXPECT_EQ(journal.trouble(), "No space left on device");
  disk_->set_full(false);
  wait();
  EXPECT_TRUE(submit(journal, "t3"));
  ASSERT_TRUE(storage->sync());
  Journal next{disk_, options()};
  EXPECT_EQ(tasks(next), "t1 t3 ");
}

TEST_F(BufferedStorageTest, OfTheModePowerIsDurableWhenItIsOnTheDisk) {
  const std::shared_ptr<BufferedStorage> storage = buffered();
  net::Loop loop;
  loop.on_wake([] {});
  Journal journal{storage, options(JournalMode::power), loop.waker()};
  disk_->set_hanging(true);
  journal.submitted(MessageId{"t1"}, TextFrames{"client", "<IDS|MSG>", "t1"});
  const auto ticket = journal.commit();
  ASSERT_TRUE(ticket);
  disk_->wait_until_used();
  EXPECT_FALSE(journal.is_durable(*ticket));
  disk_->set_hanging(false);
  while (!journal.is_durable(*ticket)) loop.wait_until(Clock::now() + 20s);
  disk_->lose_power();
  Journal next{disk_, options()};
  EXPECT_EQ(tasks(next), "t1 ");
}

TEST_F(BufferedStorageTest, OfTheModePowerEndsThoughTheDiskIsFull) {
  disk_->set_full(true);
  const std::shared_ptr<BufferedStorage> storage = buffered();
  Journal journal{storage, options(JournalMode::power)};
  EXPECT_TRUE(submit(journal, "t1"));
}

TEST_F(BufferedStorageTest, DoesNotGrowThoughSegmentsAreReadBesideTheJournal) {
  JournalOptions small = options();
  small.limits.results = 2;
  small.limits.segment_bytes = 1000;
  const std::shared_ptr<BufferedStorage> storage = buffered();
  Journal journal{storage, small};
  ASSERT_TRUE(submit(journal, "t0"));
  for (int i = 1; i <= 2000; ++i) {
    const MessageId id{"t" + std::to_string(i)};
    ASSERT_TRUE(submit(journal, id.text));
    journal.finished(id, EngineUuid{"ann"}, TaskOutcome::ok, nullptr);
    ASSERT_TRUE(journal.commit());
    if (i % 50 == 0) {
      ASSERT_TRUE(storage->sync());
    } else if (i % 50 == 1) {
      ASSERT_TRUE(journal.commit());
    }
  }
  ASSERT_TRUE(storage->sync());
  EXPECT_LT(disk_->bytes(), 20'000u);
  Journal next{disk_, small};
  EXPECT_EQ(tasks(next), "t0 t1998 t1999 t2000 ");
}

}  // namespace
}  // namespace px::controller
