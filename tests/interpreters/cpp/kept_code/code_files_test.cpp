#include "interpreters/cpp/kept_code/code_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

class CodeFilesTest : public testing::Test {
 protected:
  CodeFilesTest() {
    char name[] = "/tmp/code_files_test_XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~CodeFilesTest() override {
    std::error_code failure;
    fs::remove_all(folder_, failure);
  }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  fs::path only_file() const { return fs::directory_iterator(folder_)->path(); }

  fs::path folder_;
  const StoredCode square_{{"square", "twice"}, std::string("\x7f" "ELF\0\n\ncode", 12)};
};

TEST_F(CodeFilesTest, GiveBackWhatWasAdded) {
  const CodeFiles files{folder_, "one"};
  EXPECT_TRUE(files.read().empty());
  files.add(square_);
  ASSERT_EQ(files.read().size(), 1u);
  EXPECT_EQ(files.read()[0].symbols, square_.symbols);
  EXPECT_EQ(files.read()[0].object, square_.object);
}

TEST_F(CodeFilesTest, AreOneForTheSameSymbols) {
  const CodeFiles files{folder_, "one"};
  files.add(square_);
  files.add(square_);
  EXPECT_EQ(count(), 1u);
}

TEST_F(CodeFilesTest, OfAnotherIdentityAreNotRead) {
  CodeFiles{folder_, "one"}.add(square_);
  EXPECT_TRUE((CodeFiles{folder_, "one more"}.read().empty()));
  EXPECT_TRUE((CodeFiles{folder_, "on"}.read().empty()));
}

TEST_F(CodeFilesTest, ThatAreDamagedAreNotRead) {
  const CodeFiles files{folder_, "one"};
  files.add(square_);
  std::ifstream in(only_file(), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  std::string changed = whole;
  changed.back() = 'E';
  for (const std::string& text : {changed, whole.substr(0, whole.size() - 1), whole + "x",
                                  std::string("one\n"), std::string()}) {
    std::ofstream(only_file(), std::ios::binary) << text;
    EXPECT_TRUE(files.read().empty()) << text;
  }
  files.add(square_);
  EXPECT_EQ(files.read().size(), 1u);
}

TEST_F(CodeFilesTest, HaveABoundAndGiveWayToOtherIdentities) {
  const CodeFiles::Bounds bounds{2, 1000};
  const CodeFiles files{folder_, "one", bounds};
  files.add({{"a"}, "1"});
  files.add({{"b"}, std::string(1000, '2')});
  files.add({{"c"}, "3"});
  files.add({{"d"}, "4"});
  EXPECT_EQ(files.read().size(), 2u);
  const CodeFiles others{folder_, "two", bounds};
  others.add({{"e"}, "5"});
  EXPECT_EQ(others.read().size(), 1u);
  EXPECT_TRUE(files.read().empty());
}

TEST_F(CodeFilesTest, AreWholeWhileManyWrite) {
  const CodeFiles files{folder_, "one"};
  const StoredCode large{{"large"}, std::string(1 << 20, 'x')};
  std::vector<std::thread> writers;
  for (int i = 0; i < 4; ++i)
    writers.emplace_back([&] {
      for (int k = 0; k < 8; ++k) {
        files.add(large);
        EXPECT_LE(files.read().size(), 1u);
      }
    });
  for (std::thread& each : writers) each.join();
  ASSERT_EQ(files.read().size(), 1u);
  EXPECT_EQ(files.read()[0].object, large.object);
}

TEST_F(CodeFilesTest, OfAFolderThatCannotBeWrittenAreNotThere) {
  const CodeFiles files{"/proc/none", "one"};
  files.add(square_);
  EXPECT_TRUE(files.read().empty());
}

}  // namespace
}  // namespace px::cpp
