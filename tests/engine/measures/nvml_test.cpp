#include "engine/measures/nvml.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace px::engine {
namespace {

constexpr int good = 0, bad = 999;

bool is_first(NvmlFunctions::Device device) {
  return reinterpret_cast<std::uintptr_t>(device) == 1;
}

/// A library of two GPUs, of which the second tells its name alone.
NvmlFunctions two_gpus() {
  using Device = NvmlFunctions::Device;
  return {.init = [] { return good; },
          .count =
              [](unsigned* count) {
                *count = 2;
                return good;
              },
          .device =
              [](unsigned number, Device* device) {
                *device = reinterpret_cast<Device>(std::uintptr_t{number} + 1);
                return number < 2 ? good : bad;
              },
          .name =
              [](Device, char* name, unsigned size) {
                std::strncpy(name, "A GPU", size);
                return good;
              },
          .utilization =
              [](Device device, NvmlFunctions::Utilization* said) {
                *said = {75, 10};
                return is_first(device) ? good : bad;
              },
          .memory =
              [](Device device, NvmlFunctions::Memory* said) {
                *said = {80'000, 30'000, 50'000};
                return is_first(device) ? good : bad;
              }};
}

TEST(Nvml, IsAbsentOnHostsWithoutIt) {
  EXPECT_FALSE(Nvml::open("libnvidia-ml.so.that.nobody.has"));
  EXPECT_FALSE(Nvml::open("libc.so.6")) << "it has none of the functions";
}

TEST(Nvml, IsAbsentWhereItFindsNoDriver) {
  NvmlFunctions functions = two_gpus();
  functions.init = [] { return bad; };
  EXPECT_FALSE(Nvml::open(functions));
}

TEST(Nvml, TellsOfAllGpusWhatTheyTell) {
  const auto gpus = Nvml::open(two_gpus())->read();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[0], (GpuMeasures{0, "A GPU", 0.75, 80'000, 50'000}));
  EXPECT_EQ(gpus[1], (GpuMeasures{1, "A GPU", {}, {}, {}}));
}

TEST(Nvml, TellsOfThoseThatAreAskedForAndThere) {
  const auto gpus = Nvml::open(two_gpus())->read({1, 7, -1});
  ASSERT_EQ(gpus.size(), 1u);
  EXPECT_EQ(gpus[0].number, 1);
}

TEST(Nvml, OfALibraryThatFailsThereAreNone) {
  NvmlFunctions functions = two_gpus();
  functions.count = [](unsigned*) { return bad; };
  EXPECT_TRUE(Nvml::open(functions)->read().empty());
}

}  // namespace
}  // namespace px::engine
