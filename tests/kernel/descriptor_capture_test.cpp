#include <gtest/gtest.h>

#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "kernel/descriptor_capture.hpp"
#include "kernel/parent_watch.hpp"

namespace px::kernel {
namespace {

void print(int descriptor, std::string_view text) {
  ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

/// While one captures, GoogleTest's own messages would be captured too: act first, then look.
TEST(DescriptorCapture, GetsWhatChildProcessesAndCCodePrint) {
  std::string captured;
  auto capture = DescriptorCapture::start([&](std::string_view stream, std::string_view text) {
    captured += std::string(stream) + ":" + std::string(text);
  });
  ASSERT_TRUE(capture);
  const int exit_code = ::system("printf child");
  (*capture)->drain(false);
  print(2, "error");
  (*capture)->drain(false);
  (*capture)->restore();
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(captured, "stdout:childstderr:error");
}

TEST(DescriptorCapture, HoldsTheBeginningOfACharacterBackUntilItIsWhole) {
  std::string captured;
  auto capture = DescriptorCapture::start(
      [&](std::string_view, std::string_view text) { captured += "[" + std::string(text) + "]"; });
  ASSERT_TRUE(capture);
  print(1, "a\xc3");
  (*capture)->drain(false);
  print(1, "\xa9");
  (*capture)->drain(false);
  (*capture)->restore();
  EXPECT_EQ(captured, "[a][\xc3\xa9]");
}

TEST(ParentWatch, KnowsTheAncestorsOfThisProcess) {
  EXPECT_TRUE(is_ancestor(::getppid()));
  EXPECT_FALSE(is_ancestor(::getpid() + 1'000'000));
}

}  // namespace
}  // namespace px::kernel
