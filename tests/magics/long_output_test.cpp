#include "magics/long_output.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/os/temporary_folder.hpp"

namespace px::magics {
namespace {

/// Keeps what it shows: texts by stream, and the latest state of the one display.
class FakeNotebook final : public CellOutput {
 public:
  void perform(const Action& action) override {
    if (const auto* write = std::get_if<WriteText>(&action)) text[write->stream] += write->text;
    if (const auto* shown = std::get_if<ShowData>(&action)) {
      EXPECT_EQ(shown->is_update, !display.empty());
      display = shown->data.value("text/plain", "");
      ++updates;
    }
    if (std::holds_alternative<ClearOutput>(action)) text.clear(), display.clear();
  }
  bool is_interrupted() override { return false; }
  void run_here(const std::string&) override {}

  std::map<std::string, std::string> text;
  std::string display;
  int updates = 0;
};

struct LongOutputTest : testing::Test {
  LongOutput output(Duration period = Duration{}) {
    return {notebook, folder.path(), {.bytes = 12, .last_lines = 2, .period = period}};
  }
  /// The text of the only file.
  std::string file() const {
    const std::filesystem::directory_iterator files{folder.path()};
    if (files == std::filesystem::directory_iterator{}) return "(no file)";
    std::ifstream stream{files->path()};
    return {std::istreambuf_iterator<char>{stream}, {}};
  }

  FakeNotebook notebook;
  os::TemporaryFolder folder;
};

TEST_F(LongOutputTest, AShortOneIsShownAndNoFileIsMade) {
  LongOutput shown = output();
  shown.perform(WriteText{"stdout", "one\ntwo\n"});
  shown.perform(WriteText{"stdout", "end\n"});
  shown.end();
  EXPECT_EQ(notebook.text["stdout"], "one\ntwo\nend\n");
  EXPECT_EQ(notebook.display, "");
  EXPECT_EQ(file(), "(no file)");
}

TEST_F(LongOutputTest, AllOfALongOneIsInTheFileAndItsWholeFirstLinesAreShown) {
  LongOutput shown = output();
  std::string all;
  for (int i = 0; i < 10; ++i) {
    const std::string lines = "a" + std::to_string(i) + "\nb" + std::to_string(i) + "\n";
    all += lines;
    shown.perform(WriteText{"stdout", lines});
  }
  shown.end();
  EXPECT_EQ(notebook.text["stdout"], "a0\nb0\na1\nb1\n");
  EXPECT_EQ(file(), all);
  EXPECT_TRUE(notebook.display.starts_with("The output has 20 lines"));
  EXPECT_TRUE(notebook.display.ends_with("has all of it. The latest lines:\na9\nb9\n"))
      << notebook.display;
}

TEST_F(LongOutputTest, ALineThatDoesNotFitIsNotCutAndNothingFollowsIt) {
  LongOutput shown = output();
  shown.perform(WriteText{"stdout", "first\na long line that does not fit\nx\n"});
  shown.perform(WriteText{"stdout", "y\n"});
  EXPECT_EQ(notebook.text["stdout"], "first\n");
  EXPECT_EQ(file(), "first\na long line that does not fit\nx\ny\n");
}

TEST_F(LongOutputTest, ErrorsAreShownAfterAnyAmountOfOutput) {
  LongOutput shown = output();
  shown.perform(WriteText{"stdout", std::string(100, '\n')});
  shown.perform(WriteText{"stderr", "failed\n"});
  EXPECT_EQ(notebook.text["stderr"], "failed\n");
  EXPECT_EQ(file(), std::string(100, '\n') + "failed\n");
}

TEST_F(LongOutputTest, TheDisplayIsUpdatedOnceAPeriodAndAtTheEnd) {
  LongOutput shown = output(std::chrono::hours(1));
  for (int i = 0; i < 100; ++i) shown.perform(WriteText{"stdout", "line\n"});
  EXPECT_EQ(notebook.updates, 1);
  shown.end();
  EXPECT_EQ(notebook.updates, 2);
  EXPECT_NE(notebook.display.find("100 lines"), std::string::npos);
}

TEST_F(LongOutputTest, ACellThatClearsItsOutputMayShowAsMuchAgain) {
  LongOutput shown = output();
  shown.perform(WriteText{"stdout", "0123456789\n"});
  shown.perform(ClearOutput{});
  shown.perform(WriteText{"stdout", "abcdefghij\n"});
  EXPECT_EQ(notebook.text["stdout"], "abcdefghij\n");
  shown.perform(WriteText{"stdout", "too much\n"});
  shown.perform(ClearOutput{});
  shown.perform(WriteText{"stdout", "again\n"});
  shown.end();
  EXPECT_EQ(notebook.text["stdout"], "again\n");
  EXPECT_EQ(file(), "abcdefghij\ntoo much\nagain\n");
}

TEST_F(LongOutputTest, AFileThatCannotBeWrittenIsNamedAndSoIsTheOtherWay) {
  LongOutput shown{notebook, "/dev/full/no", {.bytes = 4, .last_lines = 1, .period = {}}};
  const os::ScopedVariable no_temporary_folder{"TMPDIR", "/dev/full/no"};
  shown.perform(WriteText{"stdout", "first\nsecond\n"});
  EXPECT_NE(notebook.display.find("The rest cannot be written to "), std::string::npos);
  EXPECT_NE(notebook.display.find("Get all of it from the result"), std::string::npos);
}

}  // namespace
}  // namespace px::magics
