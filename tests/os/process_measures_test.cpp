#include "os/process_measures.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <thread>

#include "os/descriptor.hpp"

namespace px::os {
namespace {

TEST(ProcessMeasures, SayWhatThisProcessTakes) {
  const ProcessMeasures measures = measure_process();
  EXPECT_GT(measures.memory, 1u << 20);
  EXPECT_GE(measures.cpu, 0.0);
  EXPECT_GE(measures.threads, 1u);
  EXPECT_GE(measures.descriptors, 3u);
}

TEST(ProcessMeasures, CountMoreFilesAndThreads) {
  const ProcessMeasures before = measure_process();
  const Descriptor file{::open("/dev/null", O_RDONLY)};
  ProcessMeasures during;
  std::thread{[&] { during = measure_process(); }}.join();
  EXPECT_EQ(*during.descriptors, *before.descriptors + 1);
  EXPECT_EQ(*during.threads, *before.threads + 1);
}

TEST(HostMeasures, SayWhatTheHostHas) {
  const HostMeasures host = measure_host();
  EXPECT_GT(host.memory, 1u << 20);
  EXPECT_GT(host.free_memory, 0u);
  EXPECT_LE(host.free_memory, host.memory);
  EXPECT_GE(host.cores, 1u);
  EXPECT_GE(host.load, 0.0);
}

}  // namespace
}  // namespace px::os
