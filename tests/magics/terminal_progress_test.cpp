#include "magics/terminal_progress.hpp"

#include <gtest/gtest.h>

#include "magics/terminal_screen.hpp"

namespace px::magics {
namespace {

ShowProgress rewriting(std::vector<std::string> lines) {
  return {0, 0, {}, std::move(lines)};
}

TEST(TerminalProgress, LinesStayBelowAllTextAndGoAtTheEnd) {
  TerminalProgress progress;
  TerminalScreen terminal;
  const TerminalSize size{40, 10};
  const auto print = [&](const std::string& text) {
    terminal.add(progress.before_text() + text + progress.after_text(text.back() == '\n'));
  };
  terminal.add(progress.show(rewriting({"outer 1%", "inner 2%"}), size));
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"outer 1%", "inner 2%"}));
  print("one\n");
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"one", "outer 1%", "inner 2%"}));
  terminal.add(progress.show(rewriting({"outer 2%"}), size));
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"one", "outer 2%"}));
  print("half");
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"one", "half"}));
  print(" two\n");
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"one", "half two", "outer 2%"}));
  terminal.add(progress.show({}, size));
  EXPECT_EQ(terminal.lines(), (std::vector<std::string>{"one", "half two"}));
}

TEST(TerminalProgress, LinesAreCutToTheTerminal) {
  TerminalProgress progress;
  EXPECT_EQ(progress.show(rewriting({"a", "█bcdef",
                                     "\x1b[31m"
                                     "bcdef\x1b[0m"}),
                          {5, 3}),
            "█bcd\n\x1b[31m"
            "bcde\x1b[0m");
}

TEST(TerminalProgress, WithoutProgressNothingIsWritten) {
  TerminalProgress progress;
  EXPECT_EQ(progress.show({}, {}) + progress.before_text() + progress.after_text(true), "");
}

}  // namespace
}  // namespace px::magics
