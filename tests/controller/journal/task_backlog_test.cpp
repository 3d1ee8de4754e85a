#include "controller/journal/task_backlog.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace px::controller {
namespace {

using namespace std::chrono_literals;

/// Texts in memory, and a disk that fails when a test wants it to.
struct FakeDisk {
  std::deque<std::string> texts;
  bool is_full = false, is_broken = false;
};

class FakeTextQueue final : public TextQueue {
 public:
  explicit FakeTextQueue(std::shared_ptr<FakeDisk> disk) : disk_(std::move(disk)) {}
  Result<void> push(std::string_view text) override {
    if (disk_->is_full) return Error{ErrorKind::system, "No space left on device"};
    disk_->texts.emplace_back(text);
    return {};
  }
  Result<std::string> pop() override {
    if (disk_->is_broken) return Error{ErrorKind::system, "Input/output error"};
    std::string text = std::move(disk_->texts.front());
    disk_->texts.pop_front();
    return text;
  }

 private:
  const std::shared_ptr<FakeDisk> disk_;
};

Instant at(Duration time) {
  return Instant{} + 1h + time;
}

/// Behind a queue that holds three tasks at most.
class TaskBacklogTest : public testing::Test {
 protected:
  explicit TaskBacklogTest(std::size_t bytes = 0)
      : backlog_({.tasks = 3, .bytes = bytes}, std::make_unique<FakeTextQueue>(disk_)) {}

  Result<void> push(const std::string& id, bool may_write = true, std::size_t bytes = 10) {
    return backlog_.push({MessageId{id}, frames(id, bytes)}, may_write, full_);
  }
  static SharedFrames frames(const std::string& id, std::size_t bytes = 10) {
    return std::make_shared<TextFrames>(
        std::vector<std::string>{"client", std::string(bytes, 'x'), id});
  }
  /// What leaves while the queue has room.
  std::string pop_all(Instant now = at(0s)) {
    std::string ids;
    while (const auto task = backlog_.pop(roomy_, now)) {
      EXPECT_EQ(task->frames->at(2), task->msg_id.text);
      ids += task->msg_id.text + " ";
    }
    return ids;
  }

  static constexpr TaskBacklog::Load full_{3, 300}, roomy_{2, 200};
  const std::shared_ptr<FakeDisk> disk_ = std::make_shared<FakeDisk>();
  TaskBacklog backlog_;
};

TEST_F(TaskBacklogTest, TasksWaitHereOnceTheQueueHasEnough) {
  EXPECT_FALSE(backlog_.takes(roomy_));
  EXPECT_TRUE(backlog_.takes(full_));
  ASSERT_TRUE(push("a"));
  EXPECT_TRUE(backlog_.takes(roomy_)) << "it would overtake the one that waits";
}

TEST_F(TaskBacklogTest, TheyLeaveInTheirOrderWhenTheQueueHasRoom) {
  for (const char* id : {"a", "b", "c"}) ASSERT_TRUE(push(id));
  EXPECT_FALSE(backlog_.pop(full_, at(0s)));
  EXPECT_EQ(backlog_.next_deadline(full_), std::nullopt);
  EXPECT_LE(backlog_.next_deadline(roomy_), at(0s));
  EXPECT_EQ(pop_all(), "a b c ");
  EXPECT_TRUE(backlog_.empty());
  EXPECT_EQ(backlog_.next_deadline(roomy_), std::nullopt);
}

TEST_F(TaskBacklogTest, TheirRequestsAreNotInMemory) {
  ASSERT_TRUE(push("a"));
  EXPECT_EQ(backlog_.memory_bytes(), 0u);
  EXPECT_EQ(disk_->texts.size(), 1u);
}

TEST_F(TaskBacklogTest, ATaskThatComesAgainWaitsOnce) {
  ASSERT_TRUE(push("a"));
  ASSERT_TRUE(push("a"));
  EXPECT_TRUE(backlog_.knows("a"));
  EXPECT_EQ(pop_all(), "a ");
  EXPECT_FALSE(backlog_.knows("a"));
}

TEST_F(TaskBacklogTest, WithAFullDiskTheyWaitInMemoryAndKeepTheirOrder) {
  ASSERT_TRUE(push("a"));
  disk_->is_full = true;
  ASSERT_TRUE(push("b"));
  ASSERT_TRUE(push("c"));
  EXPECT_EQ(backlog_.take_errors(),
            std::vector<std::string>{"waiting tasks stay in memory: No space left on device"});
  disk_->is_full = false;
  ASSERT_TRUE(push("d"));
  EXPECT_EQ(backlog_.memory_bytes(), 34u);
  EXPECT_EQ(pop_all(), "a b c d ");
  EXPECT_EQ(backlog_.memory_bytes(), 0u);
}

TEST_F(TaskBacklogTest, LongOnesAndThoseThatMustNotBeCopiedWaitInMemory) {
  ASSERT_TRUE(push("a", true, 2 << 20));
  ASSERT_TRUE(push("b", false));
  EXPECT_TRUE(disk_->texts.empty());
  EXPECT_EQ(pop_all(), "a b ");
}

TEST_F(TaskBacklogTest, WhatCannotBeReadWaitsAndIsTriedAgainEachSecond) {
  for (const char* id : {"a", "b"}) ASSERT_TRUE(push(id));
  disk_->is_broken = true;
  EXPECT_EQ(pop_all(), "");
  EXPECT_EQ(backlog_.next_deadline(roomy_), at(1s));
  EXPECT_EQ(pop_all(at(1s)), "");
  disk_->is_broken = false;
  EXPECT_EQ(pop_all(at(1500ms)), "");
  EXPECT_EQ(pop_all(at(2s)), "a b ");
  EXPECT_EQ(backlog_.take_errors(),
            std::vector<std::string>{"2 tasks wait until they can be read again: "
                                     "Input/output error"});
}

TEST_F(TaskBacklogTest, ADiskThatGivesBackSomethingElseLosesOneTaskAndSaysSo) {
  for (const char* id : {"a", "b"}) ASSERT_TRUE(push(id));
  disk_->texts.front().back() ^= 1;
  EXPECT_EQ(pop_all(), "");
  EXPECT_EQ(pop_all(), "b ");
  EXPECT_EQ(backlog_.take_errors().size(), 1u);
}

class SmallTaskBacklogTest : public TaskBacklogTest {
 protected:
  SmallTaskBacklogTest() : TaskBacklogTest(400) {}
};

TEST_F(SmallTaskBacklogTest, OneForWhichThereIsNeitherDiskNorMemoryIsRefused) {
  disk_->is_full = true;
  ASSERT_TRUE(push("a", true, 60));
  const Result<void> refused = push("b", true, 60);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::overloaded);
  EXPECT_NE(refused.error().what.find("--task-queue-mib"), std::string::npos);
  EXPECT_FALSE(backlog_.knows("b"));
  disk_->is_full = false;
  EXPECT_TRUE(push("b", true, 60));
}

TEST_F(SmallTaskBacklogTest, OneThatTheQueueWouldRefuseWaitsUntilThereIsMemory) {
  ASSERT_TRUE(push("a", true, 250));
  EXPECT_FALSE(backlog_.pop(roomy_, at(0s)));
  EXPECT_EQ(backlog_.next_deadline(roomy_), std::nullopt);
  EXPECT_TRUE(backlog_.knows("a"));
  EXPECT_TRUE(backlog_.pop({1, 100}, at(0s)));
}

}  // namespace
}  // namespace px::controller
