#include "os/memory_group.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

std::string folder_of(std::string_view cgroup_text) {
  const auto group = read_control_group(cgroup_text, "memory");
  return group ? group->root + group->path : "none";
}

TEST(MemoryGroup, IsNamedByTheTextOfTheKernel) {
  EXPECT_EQ(folder_of("0::/user.slice/a:b\n"), "/sys/fs/cgroup/user.slice/a:b");
  EXPECT_EQ(folder_of("0::/\n"), "/sys/fs/cgroup");
  EXPECT_EQ(folder_of("5:cpu,memory:/box\n1:name=systemd:/\n0::/\n"), "/sys/fs/cgroup/memory/box");
  EXPECT_EQ(folder_of("1:name=systemd:/\n"), "none");
}

class MemoryLimit : public testing::Test {
 protected:
  void write(const std::string& group, const std::string& name, const std::string& text) {
    std::filesystem::create_directories(folder_.path() / group);
    std::ofstream(folder_.path() / group / name) << text << "\n";
  }
  std::optional<std::int64_t> limit(const std::string& path,
                                    MemoryGroup::Version version = MemoryGroup::Version::second) {
    return memory_limit({version, folder_.path().string(), path});
  }
  TemporaryFolder folder_;
};

TEST_F(MemoryLimit, IsTheLowestOfTheGroupAndThoseAroundIt) {
  write("job", "memory.max", "1000");
  write("job/step", "memory.max", "2000");
  write("job/task", "memory.max", "10");
  EXPECT_EQ(limit("/job/step"), 1000);
  EXPECT_EQ(limit("/job/task"), 10);
}

TEST_F(MemoryLimit, IsNoneWhereNoGroupHasOne) {
  write("job", "memory.max", "max");
  EXPECT_EQ(limit("/job"), std::nullopt);
  EXPECT_EQ(limit(""), std::nullopt);
}

TEST_F(MemoryLimit, InAContainerIsThatOfTheRoot) {
  write(".", "memory.max", "500");
  EXPECT_EQ(limit("/the/name/on/the/host"), 500);
}

TEST_F(MemoryLimit, OfTheFirstVersionHasAFileOfItsOwn) {
  write("box", "memory.limit_in_bytes", "700");
  write("box", "memory.max", "1");
  EXPECT_EQ(limit("/box", MemoryGroup::Version::first), 700);
}

TEST_F(MemoryLimit, LeavesWhatNoGroupUsesYet) {
  write("job", "memory.max", "1000");
  write("job", "memory.current", "700");
  write("job", "memory.stat", "anon 100\nactive_file 5\ninactive_file 200");
  write("job/step", "memory.max", "max");
  write("job/step", "memory.current", "600");
  const MemoryGroup step{MemoryGroup::Version::second, folder_.path().string(), "/job/step"};
  EXPECT_EQ(memory_left(step), 500);
  write("job/step", "memory.max", "650");
  EXPECT_EQ(memory_left(step), 50);
  EXPECT_EQ(memory_left({MemoryGroup::Version::second, folder_.path().string(), "/other"}),
            std::nullopt);
}

}  // namespace
}  // namespace px::os
