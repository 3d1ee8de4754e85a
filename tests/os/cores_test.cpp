#include "os/cores.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

class CoreFiles : public testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::optional<double> quota(const std::string& path, ControlGroup::Version version) {
    return core_quota({version, folder_.path().string(), path});
  }
  TemporaryFolder folder_;
};

TEST_F(CoreFiles, TheLowestQuotaOfTheGroupsAroundAProcessCounts) {
  write("job/cpu.max", "150000 100000");
  write("job/step/cpu.max", "400000 100000");
  write("job/free/cpu.max", "max 100000");
  EXPECT_EQ(quota("/job/step", ControlGroup::Version::second), 1.5);
  EXPECT_EQ(quota("/job/free", ControlGroup::Version::second), 1.5);
  EXPECT_EQ(quota("/other", ControlGroup::Version::second), std::nullopt);
}

TEST_F(CoreFiles, TheFirstVersionHasItsQuotaInTwoFiles) {
  write("box/cpu.cfs_quota_us", "200000");
  write("box/cpu.cfs_period_us", "100000");
  write("free/cpu.cfs_quota_us", "-1");
  write("free/cpu.cfs_period_us", "100000");
  EXPECT_EQ(quota("/box", ControlGroup::Version::first), 2);
  EXPECT_EQ(quota("/free", ControlGroup::Version::first), std::nullopt);
}

TEST_F(CoreFiles, SayOnWhichSocketsAndNumaNodesCoresAre) {
  for (const char* core : {"cpu2", "cpu3"}) {
    write(std::string("cpu/") + core + "/topology/physical_package_id", "1");
    write(std::string("cpu/") + core + "/node" + core[3] + "/meminfo", "");
  }
  const CorePlaces places = places_of({2, 3, 4}, folder_.path());
  EXPECT_EQ(places.sockets, std::vector<int>{1});
  EXPECT_EQ(places.numa_nodes, (std::vector<int>{2, 3}));
}

TEST(Cores, ThisProcessMayRunOnSome) {
  const std::vector<int> own = usable_cores();
  ASSERT_FALSE(own.empty());
  EXPECT_TRUE(std::is_sorted(own.begin(), own.end()));
  EXPECT_EQ(usable_cores(::getpid()), own);
}

TEST(NumberList, IsWrittenAsTheKernelDoes) {
  EXPECT_EQ(number_list({}, 96), "");
  EXPECT_EQ(number_list({3}, 96), "3");
  EXPECT_EQ(number_list({0, 1, 2, 3, 8, 10, 11}, 96), "0-3,8,10-11");
}

TEST(NumberList, LeavesOutWhatDoesNotFit) {
  const std::vector<int> numbers{100, 102, 104, 106, 108, 110};
  EXPECT_EQ(number_list(numbers, 23), "100,102,104,106,108,110");
  EXPECT_EQ(number_list(numbers, 22), "100,102,104,106,...");
  EXPECT_EQ(number_list(numbers, 20), "100,102,104,106,...");
}

}  // namespace
}  // namespace px::os
