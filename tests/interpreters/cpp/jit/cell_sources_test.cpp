#include "interpreters/cpp/jit/cell_sources.hpp"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/JITLoaderGDB.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "interpreters/cpp/run/cpp_session.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

extern "C" jit_descriptor __jit_debug_descriptor;  // what debuggers read

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

class CellSourcesTest : public testing::Test {
 protected:
  CellSourcesTest()
      : folder_(fs::temp_directory_path() / ("px-sources-" + std::to_string(getpid()))) {}
  ~CellSourcesTest() override { fs::remove_all(folder_); }

  std::unique_ptr<CppSession> session(const std::vector<std::string>& flags) {
    CppSession::Options options = options_with_report();
    options.flags.insert(options.flags.end(), flags.begin(), flags.end());
    options.source_folder = folder_ / "cells";
    auto made = CppSession::create(options);
    EXPECT_TRUE(made) << made.error().what;
    return std::move(*made);
  }
  /// The texts of the files.
  std::vector<std::string> texts() const {
    std::vector<std::string> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_ / "cells", none)) {
      std::ifstream file(entry.path());
      found.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  static int count_of_debugged() {
    int count = 0;
    for (auto* each = __jit_debug_descriptor.first_entry; each; each = each->next_entry) ++count;
    return count;
  }

  const fs::path folder_;
};

TEST_F(CellSourcesTest, DebuggersFindCellsOfASessionWithDebugInformation) {
  const auto debugged = session({"-g", "-O0"});
  const int before = count_of_debugged();
  for (const char* const name : {"cell 1", "cell 2"}) {
    debugged->show_to_debuggers(name, "int twice(int x) { return 2 * x; }");
    ASSERT_TRUE(debugged->run("int twice(int x) { return 2 * x; }", name).is_ok());
  }
  EXPECT_GE(count_of_debugged(), before + 1);
  EXPECT_EQ(texts(), (std::vector<std::string>{"int twice(int x) { return 2 * x; }"}));
}

TEST_F(CellSourcesTest, ASessionWithoutDebugInformationWritesAndRegistersNothing) {
  const auto plain = session({});
  const int before = count_of_debugged();
  plain->show_to_debuggers("cell 1", "int n = 1;");
  ASSERT_TRUE(plain->run("int n = 1;", "cell 1").is_ok());
  EXPECT_EQ(count_of_debugged(), before);
  EXPECT_TRUE(texts().empty());
}

TEST_F(CellSourcesTest, ErrorsNameTheCellAndNotItsFile) {
  const auto debugged = session({"-g"});
  const std::string code = "void fail() {\n  throw 1;\n}";
  debugged->show_to_debuggers("cell 1", code);
  ASSERT_TRUE(debugged->run(code, "cell 1").is_ok());
  const CellOutcome failed = debugged->run("fail();", "cell 2");
  ASSERT_GE(failed.lines.size(), 1U);
  EXPECT_EQ(failed.lines.front().cell, "cell 1");
  EXPECT_EQ(failed.lines.front().line, 2);
}

TEST_F(CellSourcesTest, OptimizedInitializersKeepTheirDebugInformation) {
  const auto debugged = session({"-g"});
  int number = 0;
  for (const char* const code :
       {"template <class T> struct Box { T v; explicit Box(T t) : v(t) {} ~Box() { v = T(); }"
        " __attribute__((noinline)) T get() const { return v; } };",
        "struct Kept { Box<double> box{308}; virtual double get() { return box.get(); } virtual "
        "~Kept() {} };",
        "const Box<int> constant(225);",
        "px_reported = 1; if (Kept().get() != 308) throw px_reported;\n"
        "px_reported = 2; if (constant.get() != 225) throw px_reported;"})
    EXPECT_TRUE(debugged->run(code, "cell " + std::to_string(++number)).is_ok()) << code;
}

TEST(CellSources, FilesDependOnTheTextAlone) {
  const fs::path folder = fs::temp_directory_path() / ("px-texts-" + std::to_string(getpid()));
  CellSources one(folder), other(folder);
  one.add("cell 1", "int x;");
  other.add("cell 7", "int x;");
  other.add("cell 8", "int y;");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename();
    const std::string cell = other.cell_of(file);
    EXPECT_EQ(one.cell_of(file), cell == "cell 7" ? "cell 1" : file);
  }
  EXPECT_EQ(one.cell_of("solver.cpp"), "solver.cpp");
  fs::remove_all(folder);
}

TEST(CellSources, FilesUnusedForAMonthAreRemoved) {
  const fs::path folder = fs::temp_directory_path() / ("px-old-" + std::to_string(getpid()));
  CellSources(folder).add("cell 1", "int x;");
  const fs::path file = fs::directory_iterator(folder)->path();
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(file, now - std::chrono::hours(24 * 29));
  CellSources{folder};
  EXPECT_TRUE(fs::exists(file));
  fs::last_write_time(file, now - std::chrono::hours(24 * 31));
  CellSources{folder};
  EXPECT_FALSE(fs::exists(file));
  fs::remove_all(folder);
}

TEST(CompilerOptions, TheLastFlagAboutDebugInformationCounts) {
  const auto has = CompilerOptions::has_debug_information;
  EXPECT_FALSE(has({"-O2", "-gline-tables-only"}));
  EXPECT_TRUE(has({"-g"}));
  EXPECT_TRUE(has({"-g0", "-ggdb3"}));
  EXPECT_FALSE(has({"-g", "-g0"}));
}

}  // namespace
}  // namespace px::cpp
