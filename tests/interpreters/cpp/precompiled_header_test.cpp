#include "interpreters/cpp/compile/precompiled_header.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "interpreters/cpp/run/mpi_of_cells.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A compiler that notes each of its runs, and includes one header.
class PrecompiledHeader : public testing::Test {
 protected:
  PrecompiledHeader() {
    char name[] = "/tmp/pch_test_XXXXXX";
    folder_ = mkdtemp(name);
    write("part.hpp", "int x;");
    write_compiler("echo run >> " + path("runs") +
                   "; while [ $# -gt 0 ]; do case $1 in -o) out=$2;; -MF) rule=$2;; esac; shift; "
                   "done; echo made > $out; echo \"$out: " +
                   path("part.hpp") + "\" > $rule");
    options_.flags = {"-O2"};
    options_.compiler = path("compiler");
    options_.text = "#include \"part.hpp\"";
    options_.folder = path("cache");
    options_.patience = 20s;
  }
  ~PrecompiledHeader() override {
    std::error_code failure;
    fs::remove_all(folder_, failure);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  void write_compiler(const std::string& script) {
    write("compiler", "#!/bin/sh\n" + script + "\n");
    chmod(path("compiler").c_str(), 0700);
  }
  int runs() const {
    std::ifstream file(folder_ / "runs");
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }
  std::string made() {
    const auto result = ensure_precompiled_header(options_);
    EXPECT_TRUE(result) << result.error().what;
    return result ? *result : "";
  }

  fs::path folder_;
  PrecompiledHeaderOptions options_;
};

TEST_F(PrecompiledHeader, IsMadeOnce) {
  const std::string first = made();
  EXPECT_TRUE(fs::exists(first));
  EXPECT_EQ(made(), first);
  EXPECT_EQ(runs(), 1);
}

TEST_F(PrecompiledHeader, IsAnotherOneForOtherFlagsAndTexts) {
  const std::string first = made();
  options_.flags = {"-O3"};
  const std::string second = made();
  options_.text += "\n";
  const std::string third = made();
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
  EXPECT_EQ(runs(), 3);
}

TEST_F(PrecompiledHeader, IsMadeAgainWhenAHeaderInItChanges) {
  const std::string first = made();
  write("part.hpp", "int x, y;");
  EXPECT_EQ(made(), first);
  EXPECT_EQ(runs(), 2);
}

TEST_F(PrecompiledHeader, IsMadeAgainWhenItIsDamaged) {
  std::ofstream(made()) << "longer than it was";
  made();
  EXPECT_EQ(runs(), 2);
}

TEST_F(PrecompiledHeader, IsMadeByOneOfManyThatStartTogether) {
  std::vector<std::thread> engines;
  std::atomic<int> found = 0;
  for (int i = 0; i < 8; ++i)
    engines.emplace_back([&] { found += ensure_precompiled_header(options_) ? 1 : 0; });
  for (std::thread& each : engines) each.join();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(runs(), 1);
}

TEST_F(PrecompiledHeader, IsNotWaitedForWithoutEnd) {
  write_compiler("exec sleep 60");
  options_.patience = 100ms;
  const auto result = ensure_precompiled_header(options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "cannot make the precompiled header: the compiler timed out");
}

TEST_F(PrecompiledHeader, RepeatsWhatTheCompilerSays) {
  write_compiler("echo 'prelude.hpp:1: no such file' >&2; exit 1");
  const auto result = ensure_precompiled_header(options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(result.error().what,
            "cannot make the precompiled header: prelude.hpp:1: no such file\n");
}

TEST_F(PrecompiledHeader, LeavesNoDraftBehind) {
  const fs::path made_one = made();
  write_compiler("exit 1");
  (void)ensure_precompiled_header(options_);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(made_one.parent_path()))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names,
            (std::vector<std::string>{"lock", "prelude.hpp", "prelude.parts", "prelude.pch"}));
}

TEST_F(PrecompiledHeader, NeedsAFolderThatCanBeWritten) {
  write("file", "");
  options_.folder = path("file") + "/cache";
  const auto result = ensure_precompiled_header(options_);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::system);
  EXPECT_NE(result.error().what.find("set XDG_CACHE_HOME"), std::string::npos);
}

TEST_F(PrecompiledHeader, OldOnesGoWhenThereAreTooMany) {
  for (int i = 0; i < 20; ++i) {
    options_.flags = {"-DN=" + std::to_string(i)};
    made();
  }
  const auto count =
      std::distance(fs::directory_iterator(options_.folder), fs::directory_iterator());
  EXPECT_EQ(count, 16);
}

TEST_F(PrecompiledHeader, OfTheRealPreludeIsMadeByClang) {
  options_.flags = {"-std=c++20", "-O2", "-march=native", "-fno-finite-loops",
                    "-DOMPI_SKIP_MPICXX=1"};
  for (const std::string& flag : find_mpi_headers("openmpi").flags()) options_.flags.push_back(flag);
  options_.compiler = options_.text = "";
  options_.patience = 120s;
  const auto result = ensure_precompiled_header(options_);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_GT(fs::file_size(*result), 1'000'000u);
  const auto made = fs::last_write_time(*result);
  const auto again = ensure_precompiled_header(options_);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(fs::last_write_time(*again), made);
}

TEST(CompilerFlags, AreThoseThatClangKnows) {
  EXPECT_TRUE(check_compiler_flags({}));
  EXPECT_TRUE(check_compiler_flags({"-O3", "-fopenmp", "-std=c++23"}));
  const auto refused = check_compiler_flags({"-O3", "-fopenmpp"});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().what.find("-fopenmpp"), std::string::npos) << refused.error().what;
}

TEST(RuleForMake, NamesTheFiles) {
  EXPECT_EQ(files_of_rule("a.pch: /b.hpp \\\n  /with\\ blank.hpp \\\n /c$$.hpp\n"),
            (std::vector<std::string>{"a.pch", "/b.hpp", "/with blank.hpp", "/c$.hpp"}));
  EXPECT_TRUE(files_of_rule("").empty());
}

}  // namespace
}  // namespace px::cpp
