#include "os/descriptor_limit.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <vector>

#include "os/descriptor.hpp"
#include "tests/os/lowered_limit.hpp"

namespace px::os {
namespace {

std::vector<Descriptor> open_all() {
  std::vector<Descriptor> all;
  for (;;) {
    Descriptor file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (!file.is_open()) return all;
    all.push_back(std::move(file));
  }
}

TEST(DescriptorLimit, AsManyAreFreeAsCanBeOpened) {
  for (const rlim_t limit : {64, 300, 1000}) {
    const LoweredLimit low{limit};
    const std::size_t free = free_descriptors(limit);
    std::vector<Descriptor> all = open_all();
    EXPECT_EQ(all.size(), free) << limit;
    EXPECT_EQ(free_descriptors(limit), 0U) << limit;
    all.erase(all.begin() + 1, all.begin() + 6);
    EXPECT_EQ(free_descriptors(limit), 5U) << limit;
    EXPECT_EQ(free_descriptors(3), 3U) << limit;
  }
}

TEST(DescriptorLimit, WhatIsMissingIsSaidWithTheLimit) {
  const LoweredLimit low{100};
  EXPECT_TRUE(require_descriptors(5, "a client"));
  std::vector<Descriptor> all = open_all();
  all.resize(all.size() - 5);
  EXPECT_TRUE(require_descriptors(5, "a client"));
  const auto too_many = require_descriptors(6, "a client");
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().what,
            "too few file descriptors: a client takes 6, and this process may open 5 more of its "
            "limit of 100: close files or clients, or raise the limit (ulimit -n)");
}

}  // namespace
}  // namespace px::os
