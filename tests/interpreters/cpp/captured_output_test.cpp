#include "interpreters/cpp/run/captured_output.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "interpreters/descriptor_capture.hpp"

namespace px::cpp {
namespace {

/// Keeps text as it comes. It gets what is written to the descriptors as well, in its order, as the
/// output of a program does.
class TextOutput final : public interpreters::Output {
 public:
  void capture_descriptors() { ASSERT_TRUE(capture_.start()); }
  void write(std::string_view stream, std::string_view text) override {
    capture_.flush();
    add(stream, text);
  }
  void publish(std::string_view, std::string, std::string, std::vector<SharedBytes>) override {}
  bool wait_for_room(Duration) override { return waits_ == 0 || --waits_ == 0; }

  /// So often there is no room.
  void set_waits(int waits) { waits_ = waits; }
  int waits() const { return waits_; }
  std::string take() {
    capture_.flush();
    return std::exchange(text_, {});
  }

 private:
  bool add(std::string_view stream, std::string_view text) {
    text_ += std::string(stream == "stderr" ? "!" : "") + std::string(text);
    return false;
  }

  std::string text_;
  int waits_ = 0;
  interpreters::DescriptorCapture capture_{
      [this](std::string_view stream, std::string_view text) { return add(stream, text); }};
};

TEST(CapturedOutput, IsInTheOrderInWhichOneThreadPrinted) {
  std::string expected, taken;
  {
    TextOutput output;
    const CapturedOutput captured(output);
    output.capture_descriptors();
    for (int i = 0; i < 100; ++i) {
      std::cout << i;
      std::printf(",%d;", i);
      std::cerr << "e";
    }
    taken = output.take();
  }
  for (int i = 0; i < 100; ++i) expected += std::to_string(i) + "," + std::to_string(i) + ";!e";
  EXPECT_EQ(taken, expected);
}

TEST(CapturedOutput, WaitsUntilThereIsRoom) {
  TextOutput output;
  const CapturedOutput captured(output);
  output.set_waits(3);
  std::cout << "waited";
  EXPECT_EQ(output.waits(), 0);
  EXPECT_EQ(output.take(), "waited");
}

TEST(CapturedOutput, OfAForkedChildComesByTheDescriptors) {
  std::string taken;
  {
    TextOutput output;
    const CapturedOutput captured(output);
    output.capture_descriptors();
    const pid_t child = ::fork();
    if (child == 0) {
      std::cout << "of the child";
      std::cout.flush();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    taken = output.take();
  }
  EXPECT_EQ(taken, "of the child");
}

TEST(CapturedOutput, PutsAllBack) {
  std::streambuf* before = std::cout.rdbuf();
  TextOutput output;
  {
    const CapturedOutput captured(output);
  }
  EXPECT_EQ(std::cout.rdbuf(), before);
  EXPECT_EQ(output.take(), "");
}

}  // namespace
}  // namespace px::cpp
