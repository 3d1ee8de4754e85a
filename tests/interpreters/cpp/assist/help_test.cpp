#include <gtest/gtest.h>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class Help : public SessionTest {
 protected:
  /// `|` in the code is the cursor; without one it is at the end.
  std::string help(std::string code) {
    const std::size_t cursor = std::min(code.find('|'), code.size());
    if (cursor < code.size()) code.erase(cursor, 1);
    return session().inspect(code, cursor).value_or("");
  }
};

TEST_F(Help, SaysDeclarationCommentAndPlace) {
  runs("/// Adds two numbers.\nint add(int a, int b) { return a + b; }\nint sum = add(1, 2);");
  EXPECT_EQ(help("add"), "int add(int a, int b)\nAdds two numbers.\n(cell 1, line 2)\n");
  EXPECT_EQ(help("int x = a|dd(1, 2);"), help("add"));
  EXPECT_EQ(help("sum"), "int sum\n(cell 1, line 3)\n");
  EXPECT_EQ(help("nothing_of_that_name"), "");
  runs("struct P { /** How long. */ double length; }; P p;\n#define TWICE(x) ((x) * 2)\n");
  EXPECT_NE(help("p.length").find("double length\nHow long."), std::string::npos);
  EXPECT_EQ(help("TWICE"), "#define TWICE(x) ( ( x ) * 2 )\n");
}

TEST_F(Help, KnowsTheCellThatIsBeingWritten) {
  EXPECT_EQ(help("/// Counts.\nint count = 0;\nint f() { return cou|nt; }"),
            "int count\nCounts.\n(this cell, line 2)\n");
  EXPECT_EQ(help("int f(double amount) { return am|ount; }"),
            "double amount\n(this cell, line 1)\n");
  EXPECT_EQ(help("/// Counts.\nint co|unt = 0;"), "int count\nCounts.\n(this cell, line 2)\n");
}

TEST_F(Help, NamesAllOverloads) {
  runs(
      "/// Of a square.\ndouble area(double side) { return side * side; }\n"
      "double area(double width, double height) { return width * height; }");
  const std::string text = help("area");
  EXPECT_NE(text.find("double area(double side)\nOf a square."), text.npos) << text;
  EXPECT_NE(text.find("double area(double width, double height)"), text.npos) << text;
}

TEST_F(Help, InParenthesesIsAboutTheCall) {
  runs(
      "/// Of a square.\ndouble area(double side) { return side * side; }\n"
      "double area(double width, double height) { return width * height; }");
  EXPECT_EQ(help("area(|)"),
            "double area(double side)\n  parameter 1: double side\nOf a square.\n"
            "double area(double width, double height)\n");
  EXPECT_EQ(help("auto a = area(2, |);\nint b;"),
            "double area(double width, double height)\n  parameter 2: double height\n");
  runs("struct P { P(int number) {} void move(int by) {} }; P p(1);");
  EXPECT_EQ(help("p.move(|"), "void move(int by)\n  parameter 1: int by\n");
  EXPECT_NE(help("P other(|").find("P(int number)"), std::string::npos);
  EXPECT_EQ(help("area(2, 3); |"), "");
}

TEST_F(Help, HasNoReservedNamesOfParameters) {
  runs("#include <vector>\nstd::vector<int> v;");
  EXPECT_EQ(help("v.reserve(|").find("__"), std::string::npos) << help("v.reserve(|");
}

}  // namespace
}  // namespace px::cpp
