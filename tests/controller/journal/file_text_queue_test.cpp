#include "controller/journal/file_text_queue.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace px::controller {
namespace {

class FileTextQueueTest : public testing::Test {
 protected:
  FileTextQueueTest() {
    std::string path = (std::filesystem::temp_directory_path() / "texts-XXXXXX").string();
    folder_ = ::mkdtemp(path.data());
  }
  ~FileTextQueueTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(FileTextQueueTest, TextsLeaveInTheOrderInWhichTheyCame) {
  FileTextQueue queue{folder_, 1000};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(queue.push("text " + std::to_string(i)));
    for (int i = 0; i < 300; ++i) ASSERT_EQ(*queue.pop(), "text " + std::to_string(i));
  }
}

TEST_F(FileTextQueueTest, TextsThatComeWhileOthersLeaveAreBehindThem) {
  FileTextQueue queue{folder_, 100};
  int came = 0, left = 0;
  for (int i = 0; i < 500; ++i) {
    for (int more = 0; more < 3; ++more)
      ASSERT_TRUE(queue.push(std::to_string(came++) + std::string(40, 'x')));
    for (int less = 0; less < 2; ++less)
      ASSERT_EQ(*queue.pop(), std::to_string(left++) + std::string(40, 'x'));
  }
  while (left < came) ASSERT_EQ(*queue.pop(), std::to_string(left++) + std::string(40, 'x'));
}

TEST_F(FileTextQueueTest, ATextMayBeEmptyOrLongerThanAFile) {
  FileTextQueue queue{folder_, 100};
  const std::string long_text(1 << 20, 'y');
  ASSERT_TRUE(queue.push(""));
  ASSERT_TRUE(queue.push(long_text));
  ASSERT_TRUE(queue.push("after"));
  EXPECT_EQ(*queue.pop(), "");
  EXPECT_EQ(*queue.pop(), long_text);
  EXPECT_EQ(*queue.pop(), "after");
}

TEST_F(FileTextQueueTest, WhatWasTakenOutMakesRoomOnTheDisk) {
  FileTextQueue queue{folder_, 1000};
  const std::string text(100, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.push(text));
  EXPECT_GT(queue.disk_bytes(), 10'000u);
  for (int i = 0; i < 95; ++i) ASSERT_TRUE(queue.pop());
  EXPECT_LT(queue.disk_bytes(), 2'000u);
}

TEST_F(FileTextQueueTest, NoFileIsLeftInTheFolder) {
  FileTextQueue queue{folder_};
  ASSERT_TRUE(queue.push("text"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(FileTextQueueTest, AFolderThatIsMissingIsNamed) {
  FileTextQueue queue{folder_ / "missing"};
  const Result<void> pushed = queue.push("text");
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().what,
            "cannot make a file in " + (folder_ / "missing").string() +
                ": No such file or directory");
}

}  // namespace
}  // namespace px::controller
