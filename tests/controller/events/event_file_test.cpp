#include "controller/events/event_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spdlog/async.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "os/descriptor.hpp"
#include "os/private_file.hpp"

namespace px::controller {
namespace {

class EventFileTest : public testing::Test {
 protected:
  ~EventFileTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  /// Writes events on a thread, and waits until they are in the file.
  void write(int first, int count, std::size_t padding = 0) {
    spdlog::init_thread_pool(8192, 1);
    const auto log = EventFile::open(path_);
    ASSERT_TRUE(log) << log.error().what;
    for (int i = first; i < first + count; ++i)
      log->write({{"number", i}, {"padding", std::string(padding, 'x')}});
    spdlog::details::registry::instance().set_tp({});  // the thread ends when all is written
  }
  static unsigned mode_of(const std::string& path) {
    struct stat found {};
    return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 0777 : 0;
  }

  static std::string new_folder() {
    std::string folder = testing::TempDir() + "px_events_XXXXXX";
    EXPECT_TRUE(::mkdtemp(folder.data()));
    return folder;
  }

  const std::string folder_ = new_folder();
  const std::string path_ = folder_ + "/events-.jsonl", old_path_ = folder_ + "/events-.1.jsonl";
};

TEST_F(EventFileTest, EventsAreLinesOfJsonForTheOwnerAlone) {
  write(1, 2);
  EXPECT_EQ(*os::read_file(path_),
            "{\"number\":1,\"padding\":\"\"}\n{\"number\":2,\"padding\":\"\"}\n");
  EXPECT_EQ(mode_of(path_), 0600U);
}

TEST_F(EventFileTest, ALaterControllerGoesOnBehindThem) {
  write(1, 1);
  write(2, 1);
  const auto events = EventFile::read_latest(path_, 10);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[1]["number"], 2);
}

TEST_F(EventFileTest, AFileThatIsFullIsRenamedAndOneOldOneIsKept) {
  write(0, 250, 10'000);  // 2.5 MB
  EXPECT_LE(std::filesystem::file_size(path_), EventFile::most_bytes);
  EXPECT_LE(std::filesystem::file_size(old_path_), EventFile::most_bytes);
  EXPECT_EQ(mode_of(path_), 0600U);
  EXPECT_EQ(mode_of(old_path_), 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 2);
  const auto events = EventFile::read_latest(path_, 120);
  ASSERT_EQ(events.size(), 120U);
  EXPECT_EQ(events.front()["number"], 130);
  EXPECT_EQ(events.back()["number"], 249);
}

TEST_F(EventFileTest, WhatIsNoEventIsLeftOut) {
  ASSERT_TRUE(os::write_file_atomically(path_, "{\"number\":1}\nnonsense\n[1]\n{\"number\":2"));
  const auto events = EventFile::read_latest(path_, 10);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["number"], 1);
}

/// All that is written into a pipe until its last writer closes it.
std::string read_to_the_end(const os::Descriptor& pipe) {
  ::fcntl(pipe.value(), F_SETFL, 0);  // waits from here on
  std::string text;
  std::array<char, 65536> part{};
  for (ssize_t size = 0; (size = ::read(pipe.value(), part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(size));
  return text;
}

TEST_F(EventFileTest, ADiskThatHangsHoldsUpNobodyAndTheOldestEventsAreDropped) {
  constexpr int count = 5000;
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);  // hangs when 64 KiB are in it
  const os::Descriptor disk{::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  spdlog::init_thread_pool(64, 1);
  std::string text;
  std::thread disk_that_answers_again;
  {
    const auto log = EventFile::open(path_);
    ASSERT_TRUE(log) << log.error().what;
    for (int i = 0; i < count; ++i) log->write({{"number", i}, {"padding", std::string(200, 'x')}});
    disk_that_answers_again = std::thread{[&] { text = read_to_the_end(disk); }};
  }
  spdlog::details::registry::instance().set_tp({});
  disk_that_answers_again.join();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), count);
  EXPECT_NE(text.find("{\"number\":" + std::to_string(count - 1)), std::string::npos);
}

TEST_F(EventFileTest, AFileThatCannotBeWrittenIsAnError) {
  spdlog::init_thread_pool(8, 1);
  const auto log = EventFile::open("/dev/null/no/events.jsonl");
  EXPECT_FALSE(log);
  spdlog::details::registry::instance().set_tp({});
}

}  // namespace
}  // namespace px::controller
