// Folders, libraries and flags of a session.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "interpreters/cpp/run/cpp_session.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class Surroundings : public SessionTest {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("px_surroundings_" + std::to_string(::getpid()));
};

TEST_F(Surroundings, MayGetMoreFoldersForHeaders) {
  write("mine.hpp", "#pragma once\ninline int mine() { return 5; }\n");
  fails("#include <mine.hpp>\n", CellOutcome::Ending::compile_error);
  EXPECT_TRUE(session().add_include_folder(folder_.string()));
  runs("#include <mine.hpp>\n");
  EXPECT_EQ(value("mine()"), 5);
  EXPECT_EQ(session().add_include_folder("/no/such/folder").error().kind, ErrorKind::not_found);
}

TEST_F(Surroundings, MayGetMoreLibraries) {
  EXPECT_EQ(session().load_library("no_such_library_here").error().kind, ErrorKind::not_found);
  runs("extern \"C\" const char* zlibVersion();");
  if (!session().load_library("libz.so.1")) return;  // hardly any host is without it
  EXPECT_EQ(value("zlibVersion()[1]"), '.');
}

TEST_F(Surroundings, MayGetALibraryThatAScriptOfTheLinkerNames) {
  write("libscripted.so",
        "/* GNU ld script: this file stands in the place of the library, which it names. */\n"
        "GROUP ( libm.so.6  AS_NEEDED ( libmvec.so.1 ) )\n");
  session().add_library_folder(folder_.string());
  const Result<void> loaded = session().load_library("scripted");
  EXPECT_TRUE(loaded) << loaded.error().what;
}

TEST_F(Surroundings, AHeaderThatChangedCanBeIncludedAgain) {
  EXPECT_TRUE(session().add_include_folder(folder_.string()));
  write("first.hpp", "struct Thing { int a = 1; };\n");
  runs("#include \"first.hpp\"\n");
  write("second.hpp", "struct Thing { double b = 2.5; };\n");
  runs("#include \"second.hpp\"\n");
  EXPECT_EQ(value("Thing().b"), 2.5);
}

TEST(SessionFlags, AreTheCompilers) {
  CppSession::Options options = options_with_report();
  options.flags.push_back("-DPX_ANSWER=42");
  auto session = CppSession::create(options);
  ASSERT_TRUE(session);
  EXPECT_TRUE((*session)->run("px_reported = PX_ANSWER;", "cell 1").is_ok());
  EXPECT_EQ(reported, 42);
}

TEST(SessionFlags, OfAnotherHeaderLeaveThatAside) {
  CppSession::Options options = options_with_report();
  options.precompiled_header = "/no/such/header.pch";
  auto session = CppSession::create(options);
  ASSERT_TRUE(session);
  EXPECT_NE((*session)->warning(), "");
  EXPECT_TRUE((*session)->run("px_reported = 1;", "cell 1").is_ok());
}

TEST(SessionFlags, MayAskForOpenMP) {
  CppSession::Options options = options_with_report();
  options.flags.push_back("-fopenmp");
  auto session = CppSession::create(options);
  ASSERT_TRUE(session) << session.error().what;  // libomp-22-dev, maybe
  const CellOutcome outcome = (*session)->run(
      "{ long sum = 0;\n#pragma omp parallel for reduction(+:sum)\n"
      "for (int i = 0; i < 1000; ++i) sum += i;\npx_reported = sum; }",
      "cell 1");
  EXPECT_TRUE(outcome.is_ok()) << outcome.error_value;
  EXPECT_EQ(reported, 499500);
}

}  // namespace
}  // namespace px::cpp
