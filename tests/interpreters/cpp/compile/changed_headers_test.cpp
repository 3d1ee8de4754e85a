// Headers of the user that change while a session runs.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;
using Kind = CellOutcome::Ending;

class ChangedHeaders : public SessionTest {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    ASSERT_TRUE(session().add_include_folder(folder_.string()));
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  /// As editors do: the file is another one afterwards.
  void replace(const std::string& name, const std::string& text) {
    write(name + ".new", text);
    fs::rename(folder_ / (name + ".new"), folder_ / name);
  }
  fs::path folder_ = fs::path(testing::TempDir()) / ("px_changed_" + std::to_string(::getpid()));
};

TEST_F(ChangedHeaders, AreReadAgainWhenTheCellRunsAgain) {
  write("model.hpp", "#pragma once\nint answer() { return 1; }\ninline int twice() { return 2; }");
  runs("#include \"model.hpp\"\n");
  EXPECT_EQ(value("answer() * 10 + twice()"), 12);
  write("model.hpp", "#pragma once\nint answer() { return 3; }\ninline int twice() { return 6; }");
  runs("#include \"model.hpp\"\n");
  EXPECT_EQ(value("answer() * 10 + twice()"), 36);
  runs("#include \"model.hpp\"\n");  // nothing has changed
  EXPECT_EQ(value("answer() * 10 + twice()"), 36);
  replace("model.hpp", "#pragma once\ndouble answer() { return 1.5; }\n");
  runs("#include \"model.hpp\"\npx_reported = answer();");
  EXPECT_EQ(reported, 1.5);
  fails("twice();", Kind::compile_error);  // the header has it no more
}

TEST_F(ChangedHeaders, MayHaveGuardsMacrosAndConstants) {
  const std::string begin = "// A model.\n#ifndef MODEL_HPP\n#define MODEL_HPP\n", end = "\n#endif\n";
  write("model.hpp", begin + "#define SIZE 4\n#define OLD 1\nconstexpr int size = SIZE;"
        "inline int counted = 10; const int fixed = 1; static int mine = 2;" + end);
  runs("#include <model.hpp>\n");
  EXPECT_EQ(value("size + SIZE + counted + fixed + mine"), 21);
  write("model.hpp", begin + "#define SIZE 5\nconstexpr int size = SIZE;"
        "inline int counted = 20; const int fixed = 3; static int mine = 4;" + end);
  runs("#include <model.hpp>\n");
  EXPECT_EQ(session().warnings(), "");
  EXPECT_EQ(value("size + SIZE + counted + fixed + mine"), 37);
  fails("OLD;", Kind::compile_error);
  runs("#include <model.hpp>\n#include <model.hpp>\npx_reported = SIZE;");
  EXPECT_EQ(reported, 5);
}

TEST_F(ChangedHeaders, DefineTheirClassesAgainAndOldObjectsLive) {
  write("model.hpp",
        "#pragma once\nnamespace lib { struct Model { int n = 1; int get() const { return n; } };"
        "template <class T> struct Box { T held; T get() const { return held; } };"
        "template <class T> T more(T t) { return t + 1; } }");
  runs("#include \"model.hpp\"\nlib::Model old; lib::Box<int> box{4};");
  EXPECT_EQ(value("old.get() + box.get() + lib::more(1)"), 7);
  write("model.hpp",
        "#pragma once\nnamespace lib { struct Model { double a = 0.5, n = 2.5;"
        " double get() const { return n; } };"
        "template <class T> struct Box { T held; T get() const { return 10 * held; } };"
        "template <class T> T more(T t) { return t + 2; } }");
  runs("#include \"model.hpp\"\n");
  EXPECT_EQ(value("lib::Model().get() + lib::Box<int>{4}.get() + lib::more(1)"), 45.5);
  EXPECT_EQ(value("old.get() + box.get()"), 5);
}

TEST_F(ChangedHeaders, AreReadAgainWithTheHeadersThatIncludeThem) {
  write("part.hpp", "#pragma once\nstruct Part { int n = 1; };");
  write("whole.hpp", "#pragma once\n#include \"part.hpp\"\nstruct Whole { Part part; int m = 10; };");
  runs("#include \"whole.hpp\"\n");
  EXPECT_EQ(value("Whole().part.n + Whole().m"), 11);
  write("part.hpp", "#pragma once\nstruct Part { int n = 2, more = 5; };");
  runs("#include \"part.hpp\"\n#include \"whole.hpp\"\n");
  EXPECT_EQ(value("Whole().part.n + Whole().part.more + Whole().m"), 17);
}

TEST_F(ChangedHeaders, MayBeIncludedByNewOnesOfAnotherFolder) {
  write("part.hpp", "#ifndef PART\n#define PART\ninline int part() { return 1; }\n#endif");
  runs("#include \"part.hpp\"\n");
  EXPECT_EQ(value("part()"), 1);
  write("part.hpp", "#ifndef PART\n#define PART\ninline int part() { return 2; }\n#endif");
  fs::create_directories(folder_ / "inner");
  write("inner/new.hpp", "#include \"../part.hpp\"\n#define WITH <part.hpp>\n#include WITH\n"
                         "inline int whole() { return 10 * part(); }");
  runs("#include \"" + (folder_ / "inner/new.hpp").string() + "\"\n");
  EXPECT_EQ(value("whole()"), 20);
}

TEST_F(ChangedHeaders, LeaveWhatACellOrALibraryDefines) {
  runs("extern \"C\" int abs(int); using Count = unsigned long;");
  write("model.hpp", "#pragma once\nint made(); extern int kept; struct Later; int with(Later*);"
                     "extern \"C\" int abs(int); using Count = unsigned long;");
  runs("#include \"model.hpp\"\n");
  runs("int made() { return 7; } int kept = 5; struct Later { int n = 3; };"
       "int with(Later* later) { return later->n; } Later one;");
  write("model.hpp", "#pragma once\nint made(); extern int kept; struct Later; int with(Later*);"
                     "inline int all() { return made() + kept + abs(-1); }");
  runs("#include \"model.hpp\"\n");
  EXPECT_EQ(value("all() + with(&one)"), 16);
  EXPECT_EQ(value("Count(2)"), 2);
}

TEST_F(ChangedHeaders, ThatDoNotCompileChangeNothing) {
  write("model.hpp", "#pragma once\ninline int answer() { return 1; }");
  runs("#include \"model.hpp\"\n");
  write("model.hpp", "#pragma once\ninline int answer() { return 1 }");
  const CellOutcome outcome = fails("#include \"model.hpp\"\n", Kind::compile_error);
  EXPECT_NE(outcome.error_value.find("model.hpp:2:31: error: expected ';'"), std::string::npos)
      << outcome.error_value;
  EXPECT_EQ(outcome.error_value.find("(version"), std::string::npos) << outcome.error_value;
  EXPECT_EQ(value("answer()"), 1);
  write("model.hpp", "#pragma once\ninline int answer() { return 2; }");
  runs("#include \"model.hpp\"\n");
  EXPECT_EQ(value("answer()"), 2);
}

TEST_F(ChangedHeaders, WithoutAGuardMayDefineTemplates) {
  write("open.hpp", "template <class T> T same(T t) { return t + 1; }"
                    "template <class T> struct Pair { T a, b; T sum() { return a + b; } };");
  runs("#include \"open.hpp\"\n");
  EXPECT_EQ(value("same(1) + Pair<int>{1, 2}.sum()"), 5);
  runs("#include \"open.hpp\"\n");
  EXPECT_EQ(value("same(2) + Pair<int>{1, 3}.sum()"), 7);
  write("open.hpp", "template <class T> T same(T t) { return t + 2; }"
                    "template <class T> struct Pair { T a, b; T sum() { return a * b; } };");
  runs("#include \"open.hpp\"\n");
  EXPECT_EQ(value("same(1) + Pair<int>{4, 5}.sum()"), 23);
}

TEST_F(ChangedHeaders, MayListNamesForAMacro) {
  write("colours.def", "X(red)\nX(green)\n");
  const std::string cell = "#define X(name) int name() { return __LINE__; }\n"
                           "#include \"colours.def\"\n#undef X\n"
                           "#define X(name) + 1\nconst int count = 0\n#include \"colours.def\"\n;\n"
                           "#undef X\n";
  runs(cell);
  EXPECT_EQ(value("count"), 2);
  runs(cell);
  EXPECT_EQ(value("count"), 2);
  write("colours.def", "X(red)\nX(green)\nX(blue)\n");
  runs(cell);
  EXPECT_EQ(value("count * 10 + blue()"), 33);
}

}  // namespace
}  // namespace px::cpp
