#include "os/gpus.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/os/temporary_folder.hpp"

namespace px::os {
namespace {

class Gpus : public ::testing::Test {
 protected:
  void make(const std::string& path, const std::string& content = "") {
    const auto file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }
  GpuCount count() const {
    return count_gpus(
        {folder_.path() / "dev", folder_.path() / "proc", folder_.path() / "topology"});
  }
  TemporaryFolder folder_;
};

TEST_F(Gpus, AreNoneWhereNoDriverIs) {
  EXPECT_EQ(count(), GpuCount{});
}

TEST_F(Gpus, OfNvidiaAreTheDeviceFilesThatAContainerHas) {
  for (const char* name : {"nvidia0", "nvidia3", "nvidiactl", "nvidia-uvm", "null"})
    make(std::string("dev/") + name);
  for (const char* address : {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"})
    make("proc/" + std::string(address) + "/information");
  EXPECT_EQ(count(), GpuCount{.nvidia = 2});
}

TEST_F(Gpus, OfNvidiaAreThoseOfTheDriverBeforeTheirFirstUse) {
  make("proc/0000:01:00.0/information");
  EXPECT_EQ(count(), GpuCount{.nvidia = 1});
}

TEST_F(Gpus, OfAmdAreTheNodesThatAreNoCpus) {
  make("topology/0/gpu_id", "0\n");
  make("topology/1/gpu_id", "34751\n");
  make("topology/2/gpu_id", "51110\n");
  make("topology/3/name");
  EXPECT_EQ(count(), GpuCount{.amd = 2});
}

}  // namespace
}  // namespace px::os
