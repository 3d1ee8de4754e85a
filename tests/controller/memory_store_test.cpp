#include "controller/hub/memory_store.hpp"

#include <gtest/gtest.h>

namespace px::controller {
namespace {

TaskMessage message(std::size_t buffer_bytes = 0) {
  return TaskMessage(R"({"date": "2026-11-21T08:00:00Z"})", "{}", "",
                     {std::string(buffer_bytes, 'x')}, Packer::json);
}

void submit(MemoryStore& store, std::string_view msg_id, std::size_t buffer_bytes = 0) {
  store.change(MessageId{msg_id}, [&](TaskRecord& record) {
    record.queue = TaskQueueKind::task;
    record.request = message(buffer_bytes);
  });
}
void finish(MemoryStore& store, std::string_view msg_id) {
  store.change(MessageId{msg_id}, [](TaskRecord& record) { record.result = message(); });
}
bool has(MemoryStore& store, std::string_view msg_id) {
  return store.find(MessageId{msg_id}, [](const TaskRecord&) {});
}

TEST(MemoryStore, ForgetsTheOldestTenthOfTheFinishedRecords) {
  MemoryStore store({.finished_records = 20});
  for (int i = 0; i < 21; ++i) {
    submit(store, "task " + std::to_string(i));
    finish(store, "task " + std::to_string(i));
  }
  EXPECT_EQ(store.size(), 19u);
  EXPECT_FALSE(has(store, "task 1"));
  EXPECT_TRUE(has(store, "task 2"));
  EXPECT_TRUE(has(store, "task 20"));
}

TEST(MemoryStore, KeepsUnfinishedRecordsWhileFinishedOnesGo) {
  MemoryStore store({.finished_records = 2});
  submit(store, "slow");
  for (int i = 0; i < 10; ++i) {
    submit(store, "quick " + std::to_string(i));
    finish(store, "quick " + std::to_string(i));
  }
  EXPECT_TRUE(has(store, "slow"));
  EXPECT_FALSE(has(store, "quick 0"));
  finish(store, "slow");
  EXPECT_TRUE(has(store, "slow"));
}

/// A result whose buffer lies in memory that its engine writes again.
class LentFrames final : public Frames {
 public:
  explicit LentFrames(bool is_taken) : is_taken_(is_taken) {}
  std::size_t size() const override { return 5; }
  std::string_view at(std::size_t index) const override {
    return index == 4 ? std::string_view(buffer_) : "{}";
  }
  std::size_t lent_bytes() const override { return buffer_.size(); }
  bool is_taken() const override { return is_taken_; }

 private:
  const std::string buffer_ = std::string(400, 'x');
  const bool is_taken_;
};

TEST(MemoryStore, ForgetsOldLentResultsThatWereTaken) {
  MemoryStore store({.lent_bytes = 1000, .copied_bytes = 0});
  const auto lend = [&store](std::string_view msg_id, bool is_taken) {
    submit(store, msg_id);
    store.change(MessageId{msg_id}, [&](TaskRecord& record) {
      record.result = TaskMessage(std::make_shared<LentFrames>(is_taken), 0, Packer::json);
    });
  };
  submit(store, "small");
  finish(store, "small");
  lend("waited for", false);
  lend("oldest", true);
  EXPECT_TRUE(has(store, "oldest"));
  lend("newer", true);
  EXPECT_FALSE(has(store, "oldest"));
  for (const auto* left : {"small", "waited for", "newer"}) EXPECT_TRUE(has(store, left)) << left;
  lend("waited for, too", false);
  lend("and that", false);
  EXPECT_FALSE(has(store, "newer"));
  for (const auto* left : {"waited for", "waited for, too", "and that"})
    EXPECT_TRUE(has(store, left)) << left;
}

TEST(MemoryStore, KeepsTheOnlyLentResultHoweverLargeItIs) {
  MemoryStore store({.lent_bytes = 100, .copied_bytes = 0});
  for (const auto* msg_id : {"one", "other"}) {
    submit(store, msg_id);
    store.change(MessageId{msg_id}, [](TaskRecord& record) {
      record.result = TaskMessage(std::make_shared<LentFrames>(true), 0, Packer::json);
    });
    EXPECT_TRUE(has(store, msg_id));
  }
  EXPECT_FALSE(has(store, "one"));
}

TEST(MemoryStore, CopiesShortMessagesThatAreLent) {
  MemoryStore store({.copied_bytes = 400});
  const auto frames = std::make_shared<LentFrames>(false);
  store.change(MessageId{"task"}, [&](TaskRecord& record) {
    record.request = record.result = TaskMessage(frames, 0, Packer::json);
  });
  EXPECT_EQ(frames.use_count(), 1);
  store.find(MessageId{"task"}, [](const TaskRecord& record) {
    EXPECT_EQ(record.result.buffer(0), std::string(400, 'x'));
    EXPECT_EQ(record.request.lent_bytes(), 0u);
  });
}

TEST(MemoryStore, BoundsTheBytesOfTheBuffers) {
  MemoryStore store({.bytes = 1000});
  submit(store, "unfinished", 500);
  submit(store, "finished", 400);
  finish(store, "finished");
  EXPECT_EQ(store.bytes(), 900u);
  submit(store, "more", 300);
  EXPECT_FALSE(has(store, "finished"));
  EXPECT_TRUE(has(store, "unfinished"));
  EXPECT_EQ(store.bytes(), 800u);
  submit(store, "too much", 600);
  EXPECT_FALSE(has(store, "unfinished"));
  EXPECT_LE(store.bytes(), 900u);
}

TEST(MemoryStore, BoundsTheUnfinishedRecordsToo) {
  MemoryStore store({.pending_records = 10});
  for (int i = 0; i < 11; ++i) submit(store, "task " + std::to_string(i));
  EXPECT_EQ(store.size(), 10u);
  EXPECT_FALSE(has(store, "task 0"));
}

TEST(MemoryStore, DroppedRecordsGiveTheirBytesBack) {
  MemoryStore store;
  submit(store, "a", 100);
  submit(store, "b", 10);
  store.drop({MessageId{"a"}, MessageId{"never seen"}});
  EXPECT_EQ(store.bytes(), 10u);
  finish(store, "b");
  store.drop_finished(std::nullopt);
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.bytes(), 0u);
}

}  // namespace
}  // namespace px::controller
