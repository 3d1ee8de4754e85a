#include "engine/measures/gpu_watch.hpp"

#include <gtest/gtest.h>

#include <future>

namespace px::engine {
namespace {

TEST(GpuWatch, ReadsWhenItIsAskedAndTellsTheNextTime) {
  GpuWatch watch{[count = 0]() mutable { return std::vector{GpuMeasures{.number = ++count}}; }};
  EXPECT_TRUE(watch.take().empty());
  std::vector<GpuMeasures> gpus;
  while (gpus.empty() || gpus.at(0).number < 3) gpus = watch.take();
  EXPECT_EQ(gpus.size(), 1u);
}

TEST(GpuWatch, AReadingThatHangsHoldsNothingUp) {
  auto begun = std::make_shared<std::promise<void>>();
  auto hangs = std::make_shared<std::promise<void>>();
  {
    GpuWatch watch{[begun, hangs] {
      begun->set_value();
      hangs->get_future().wait();
      return std::vector<GpuMeasures>{};
    }};
    watch.take();
    begun->get_future().wait();
    EXPECT_TRUE(watch.take().empty());
  }
  hangs->set_value();
}

TEST(GpuWatch, WithoutGpusThereIsNoThread) {
  EXPECT_TRUE(GpuWatch{nullptr}.take().empty());
  EXPECT_FALSE(nvml_reader(""));
}

TEST(GpuNumbers, AreThoseOfTheFacts) {
  EXPECT_EQ(gpu_numbers("0"), (std::vector{0}));
  EXPECT_EQ(gpu_numbers("2,3"), (std::vector{2, 3}));
  EXPECT_EQ(gpu_numbers("all 4"), std::vector<int>{});
  EXPECT_EQ(gpu_numbers(""), std::nullopt);
  EXPECT_EQ(gpu_numbers("GPU-5b1d"), std::nullopt);
}

}  // namespace
}  // namespace px::engine
