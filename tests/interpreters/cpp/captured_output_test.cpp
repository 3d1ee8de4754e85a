#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <iostream>
#include <mutex>

#include "interpreters/cpp/cells/utf8_tail.hpp"
#include "interpreters/cpp/run/captured_output.hpp"

namespace px::cpp {
namespace {

using namespace std::chrono_literals;

/// Keeps text as it comes, and can wait for some.
class TextOutput final : public interpreters::Output {
 public:
  void write(std::string_view stream, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    text_ += std::string(stream == "stderr" ? "!" : "") + std::string(text);
    changed_.notify_all();
  }
  void publish(std::string_view, std::string, std::string, std::vector<SharedBytes>) override {}
  bool wait_for(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 10s, [&] { return text_ == text; });
  }
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(text_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

TEST(CapturedOutput, IsInTheOrderInWhichOneThreadPrinted) {
  TextOutput output;
  CapturedOutput captured(output);
  for (int i = 0; i < 100; ++i) {
    std::cout << i;
    std::printf(",%d;", i);
    std::cerr << "e";
  }
  captured.flush();
  std::string expected;
  for (int i = 0; i < 100; ++i) expected += std::to_string(i) + "," + std::to_string(i) + ";!e";
  EXPECT_EQ(output.take(), expected);
}

TEST(CapturedOutput, ComesWhileTheProgramStillRuns) {
  TextOutput output;
  const CapturedOutput captured(output);
  ASSERT_EQ(::write(1, "live", 4), 4);  // nobody flushes
  EXPECT_TRUE(output.wait_for("live"));
}

TEST(CapturedOutput, HoldsMoreThanAPipeDoes) {
  TextOutput output;
  CapturedOutput captured(output);
  const std::string line(1000, 'x');
  for (int i = 0; i < 1000; ++i) std::puts(line.c_str());
  captured.flush();
  EXPECT_EQ(output.take().size(), 1001u * 1000u);
}

TEST(CapturedOutput, ComesFromChildProcessesToo) {
  TextOutput output;
  CapturedOutput captured(output);
  ASSERT_EQ(std::system("echo child; echo trouble >&2"), 0);
  captured.flush();
  const std::string text = output.take();
  EXPECT_NE(text.find("child\n"), std::string::npos);
  EXPECT_NE(text.find("!trouble\n"), std::string::npos);
}

TEST(CapturedOutput, PutsAllBack) {
  std::streambuf* before = std::cout.rdbuf();
  TextOutput output;
  {
    const CapturedOutput captured(output);
  }
  EXPECT_EQ(std::cout.rdbuf(), before);
  std::printf("%s", "");
  EXPECT_EQ(output.take(), "");
}

TEST(Utf8Tail, KeepsWhatIsCutUntilTheRestIsThere) {
  Utf8Tail tail;
  EXPECT_EQ(tail.whole("a\xE2\x82"), "a");
  EXPECT_EQ(tail.whole("\xAC"
                       "b"),
            "\xE2\x82\xAC"
            "b");
  EXPECT_EQ(tail.whole("\xC3"), "");
  EXPECT_EQ(tail.rest(), "\xC3");
  EXPECT_EQ(tail.whole("plain"), "plain");
}

}  // namespace
}  // namespace px::cpp
