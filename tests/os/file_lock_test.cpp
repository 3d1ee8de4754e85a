#include "os/file_lock.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

/// What another process is told when it asks for the lock: POSIX locks do not keep a process out of
/// its own.
class Asker {
 public:
  explicit Asker(const std::filesystem::path& path) : path_(path) {}
  /// Whether it gets the lock.
  bool takes() const {
    return in_child([&] { return FileLock::take(path_).has_value(); });
  }
  bool finds(
      const std::function<bool(const std::optional<FileLock::LockHolder>&)>& is_right) const {
    return in_child([&] { return is_right(FileLock::holder(path_)); });
  }

 private:
  static bool in_child(const std::function<bool()>& is_right) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(is_right() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0;
  }
  std::filesystem::path path_;
};

class FileLockTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.lock";
  Asker other_{path_};
};

TEST_F(FileLockTest, KeepsOtherProcessesOutAsLongAsItIsHeld) {
  EXPECT_TRUE(other_.takes());
  {
    const auto lock = FileLock::take(path_);
    ASSERT_TRUE(lock);
    EXPECT_FALSE(other_.takes());
    EXPECT_TRUE(
        other_.finds([](const auto& holder) { return holder && holder->pid == ::getppid(); }));
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(other_.finds([](const auto& holder) { return !holder; }));
}

TEST_F(FileLockTest, OfAProcessThatWasKilledHoldsNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::take(path_);
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_TRUE(FileLock::take(path_));
}

TEST_F(FileLockTest, TheProcessOfAnotherHostHasNoNumberHere) {
  const auto lock = FileLock::take(path_);
  ASSERT_TRUE(lock);
  EXPECT_TRUE(other_.finds([this](const auto&) {
    std::ofstream(path_) << "another-boot host2\n";
    const auto holder = FileLock::holder(path_);
    return holder && !holder->pid && holder->text() == "a process on host2 (not visible from here)";
  }));
}

}  // namespace
}  // namespace px::os
