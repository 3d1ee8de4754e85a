#include "interpreters/cpp/other_kernels/foreign_cell.hpp"

#include <gtest/gtest.h>

#include "interpreters/cpp/other_kernels/reference_pages.hpp"
#include "interpreters/cpp/other_kernels/session_program.hpp"

namespace px::cpp {
namespace {

using Action = ForeignCell::Action;

ForeignCell read(const std::string& cell) {
  Result<ForeignCell> made = read_foreign_cell(cell);
  EXPECT_TRUE(made) << cell;
  return made ? *made : ForeignCell{};
}
std::string why(const std::string& cell) {
  const auto made = read_foreign_cell(cell);
  EXPECT_FALSE(made) << cell;
  return made ? "" : made.error().what;
}

TEST(ForeignCell, OfPureCppStaysAsItIs) {
  for (const std::string code : {"", "int x = 3;\nx", "x ? 1 : 2", "%time f()", "a\n  .b();",
                                 "int a;\n!a", "#pragma once"}) {
    const ForeignCell cell = read(code);
    EXPECT_EQ(cell.action, Action::run) << code;
    EXPECT_EQ(cell.code, code);
    EXPECT_TRUE(cell.directives.empty());
  }
}

TEST(ForeignCell, AsksForANameByAQuestionMark) {
  for (const std::string code : {"?std::vector", "std::vector?", " ??std::vector \n"}) {
    EXPECT_EQ(read(code).action, Action::describe) << code;
    EXPECT_EQ(read(code).arguments, std::vector<std::string>{"std::vector"});
  }
}

TEST(ForeignCell, BeginsWithCommandsForAShell) {
  const ForeignCell cell = read("!echo \"a\\n\"\n\n!ls\nint x;\n!x");
  EXPECT_EQ(cell.code,
            "::px_cell_run_command(\"echo \\\"a\\\\n\\\"\");\n\n::px_cell_run_command(\"ls\");\n"
            "int x;\n!x");
}

TEST(ForeignCell, WritesFilesAndPrograms) {
  ForeignCell cell = read("%%file -a notes.txt\n!x\n.q\n");
  EXPECT_EQ(cell.action, Action::write_file);
  EXPECT_TRUE(cell.appends);
  EXPECT_EQ(cell.code, "!x\n.q\n");
  EXPECT_NE(why("%%writefile a b").find("takes one name"), std::string::npos);
  EXPECT_EQ(read("%%executable a.out -- -O3 -lm\nreturn 3;").arguments,
            (std::vector<std::string>{"a.out", "-O3", "-lm"}));
  EXPECT_EQ(read("%%executable a.out\nreturn 3;").code, "\nreturn 3;");
}

TEST(ForeignCell, LoadsAsClingDoes) {
  const ForeignCell cell = read(
      ".L libm.so\n.L part.cpp\n.I /opt/x\nint y;\n#pragma cling load(\"z\")\n"
      "#pragma cling add_include_path(\"i\")\n  #pragma  cling add_library_path(\"l\")");
  ASSERT_EQ(cell.directives.size(), 5u);
  EXPECT_EQ(cell.directives[0].kind, DirectiveKind::library);
  EXPECT_EQ(cell.directives[0].arguments, std::vector<std::string>{"libm.so"});
  EXPECT_EQ(cell.directives[1].kind, DirectiveKind::include_folder);
  EXPECT_EQ(cell.directives[2].arguments, std::vector<std::string>{"z"});
  EXPECT_EQ(cell.directives[3].kind, DirectiveKind::include_folder);
  EXPECT_EQ(cell.directives[4].kind, DirectiveKind::library_folder);
  EXPECT_EQ(cell.directives[4].line, 7);
  EXPECT_EQ(cell.code, "\n#include \"part.cpp\"\n\nint y;\n\n\n");
}

TEST(ForeignCell, SaysWhatToWriteInsteadOfClingsCommands) {
  EXPECT_EQ(why(".O2"),
            "line 1 of the cell: .O is a command of cling; write `%flags -O2` (or -O0 ... -O3) in "
            "the first cell after a restart");
  EXPECT_NE(why("\n.q").find("line 2 of the cell: .q"), std::string::npos);
  EXPECT_NE(why(".x a.C").find("#include"), std::string::npos);
  EXPECT_NE(why(".stats ast").find("C++ cells have .L, .I and .help"), std::string::npos);
  EXPECT_EQ(read(".help").action, Action::help);
  EXPECT_EQ(read("#pragma cling optimize(3)").notes.size(), 1u);
}

TEST(ReferencePage, IsThatOfTheName) {
  const std::string site = "https://en.cppreference.com/w/cpp/";
  EXPECT_EQ(reference_page("std::vector"), site + "container/vector");
  EXPECT_EQ(reference_page("std::vector::push_back"), site + "container/vector/push_back");
  EXPECT_EQ(reference_page("std::string"), site + "string/basic_string");
  EXPECT_EQ(reference_page("std::sort"), site + "algorithm/sort");
  EXPECT_EQ(reference_page("std::chrono::duration"), site + "chrono/duration");
  EXPECT_NE(reference_page("std::nothing_known").find("search=std::nothing_known"), site.npos);
  EXPECT_EQ(reference_page("mine::vector"), "");
}

TEST(SessionProgram, HasTheLatestDefinitionsInTheirOrder) {
  SessionProgram program;
  program.add("#include <vector>\nint x = 1; int f() { return x; }\nf();\nx");
  program.add("#include \"xcpp/xdisplay.hpp\"");
  program.add("struct P { int a; };\nint f() { return 2; }\nfor (;;) break;");
  const std::string text = program.with_main("std::cout << f();");
  const std::string expected =
      "#include <vector>\nint x = 1;\nint f() { return 2; }\nstruct P { int a; };\n"
      "#line 1 \"main\"\nint main() {\nstd::cout << f();\n}\n";
  ASSERT_GT(text.size(), expected.size());
  EXPECT_EQ(text.substr(text.size() - expected.size()), expected);
  const std::string whole = program.with_main("int main() { return 3; }");
  EXPECT_EQ(whole.find("int main() {\n"), std::string::npos);
}

}  // namespace
}  // namespace px::cpp
