#include <gtest/gtest.h>

#include <algorithm>

#include "interpreters/cpp/cells/cursor_context.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class Names : public SessionTest {
 protected:
  /// The names for what ends where the code does.
  std::vector<std::string> names(const std::string& code) {
    return session().complete(code, code.size()).names;
  }
  static bool has(const std::vector<std::string>& names, const std::string& name) {
    return std::count(names.begin(), names.end(), name) == 1;
  }
  std::string described(const std::string& code) {
    return session().inspect(code, code.size()).value_or("");
  }
};

TEST_F(Names, OfEarlierCellsAreCompleted) {
  runs("int velocity = 1; double velocity_of(int) { return 2; } struct Velo {};");
  EXPECT_EQ(names("int a = velo"), (std::vector<std::string>{"velocity", "velocity_of"}));
  EXPECT_EQ(session().complete("int a = velo", 12).begin, 8u);
  EXPECT_TRUE(has(names("Ve"), "Velo"));
  EXPECT_EQ(names("whi"), std::vector<std::string>{"while"});
}

TEST_F(Names, OfVariablesAreThoseThatCellsHaveDefined) {
  runs("#include <iostream>\nint first = 1; double second, _hidden; int function() { return 1; }");
  runs("struct Third {} third; namespace apart { int fourth; } std::string first;");
  EXPECT_EQ(session().variables(), (std::vector<std::string>{"second", "third", "first"}));
}

TEST_F(Names, OfMembersAreCompleted) {
  runs(
      "struct Base { int base; }; struct P : Base { int x; double get(int) { return 1; }"
      " P* next() { return this; } static int count; private: int secret; }; P p; P* q = &p;");
  const auto members = names("p.");
  EXPECT_TRUE(has(members, "x") && has(members, "get") && has(members, "base"));
  EXPECT_FALSE(has(members, "secret") || has(members, "velocity"));
  EXPECT_EQ(names("q->ge"), std::vector<std::string>{"get"});
  EXPECT_EQ(names("p.next()->nex"), std::vector<std::string>{"next"});
  EXPECT_EQ(names("P::cou"), std::vector<std::string>{"count"});
}

TEST_F(Names, OfTheStandardLibraryAreCompleted) {
  runs(
      "#include <vector>\n#include <memory>\nstd::vector<int> v;"
      " auto s = std::make_unique<std::vector<int>>();");
  EXPECT_EQ(names("v.push_"), std::vector<std::string>{"push_back"});
  EXPECT_EQ(names("s->emplace_b"), std::vector<std::string>{"emplace_back"});
  EXPECT_TRUE(has(names("std::vec"), "vector"));
  EXPECT_FALSE(session().is_defined("px_probe"));
}

TEST_F(Names, OfTheCellThatIsBeingWrittenAreCompleted) {
  EXPECT_EQ(names("struct Q { int quality; };\nQ q;\nq.qua"), std::vector<std::string>{"quality"});
  EXPECT_EQ(names("struct Q { int quality; };\nvoid f() { Q local; local.qua"),
            std::vector<std::string>{"quality"});
  EXPECT_EQ(names("enum class Color { red, green };\nauto c = Color::gr"),
            std::vector<std::string>{"green"});
  EXPECT_FALSE(session().is_defined("Q"));
}

TEST_F(Names, AreDescribedWithTheirCommentsAndPlaces) {
  runs("/// Adds two numbers.\nint add(int a, int b) { return a + b; }\nint sum = add(1, 2);");
  EXPECT_EQ(described("add"), "int add(int a, int b)\nAdds two numbers.\n(cell 1, line 2)\n");
  EXPECT_EQ(described("sum"), "int sum\n(cell 1, line 3)\n");
  EXPECT_EQ(described("nothing_of_that_name"), "");
  runs("struct P { /// How long.\n double length; }; P p;\n#define TWICE(x) ((x) * 2)\n");
  EXPECT_NE(described("p.length").find("double length\nHow long."), std::string::npos);
  EXPECT_EQ(described("TWICE"), "#define TWICE(x) ( ( x ) * 2 )\n");
}

TEST_F(Names, HaveTypes) {
  runs("int x = 1; double& r = *new double(2); template <class T> struct Box {}; Box<int> box;");
  EXPECT_EQ(session().type_of("x"), "int");
  EXPECT_EQ(session().type_of("r"), "double");
  EXPECT_EQ(session().type_of("x + 0.5"), "double");
  EXPECT_EQ(session().type_of("box"), "Box<int>");
  EXPECT_EQ(session().type_of("nowhere"), std::nullopt);
}

TEST_F(Names, KnowWhetherTheyAreDefined) {
  runs("namespace a { int b; struct C { static int d; }; } using Alias = int; enum E { one };");
  for (const char* name : {"a", "a::b", "::a::b", "a::C::d", "Alias", "one", "E"})
    EXPECT_TRUE(session().is_defined(name)) << name;
  for (const char* name : {"b", "a::z", "", "a::", "1x"})
    EXPECT_FALSE(session().is_defined(name)) << name;
}

TEST_F(Names, HaveAnotherIdentityOnceTheyAreDefinedAgain) {
  runs("int f() { return 1; }");
  const void* first = session().identity("f");
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(session().identity("f"), first);
  runs("int f() { return 2; }");
  EXPECT_NE(session().identity("f"), first);
  EXPECT_EQ(session().identity("g"), nullptr);
}

TEST_F(Names, HaveAddresses) {
  runs("int x = 5; extern \"C\" int seven() { return 7; }");
  ASSERT_NE(session().address_of("x"), nullptr);
  EXPECT_EQ(*static_cast<int*>(session().address_of("x")), 5);
  const auto seven = reinterpret_cast<int (*)()>(session().address_of("seven"));
  int got = 0;
  EXPECT_TRUE(session().call([&] { got = seven(); }).is_ok());
  EXPECT_EQ(got, 7);
  EXPECT_EQ(session().address_of("nothing"), nullptr);
}

TEST(CursorContext, KnowsTheObjectAndTheStatementsBefore) {
  const std::string code = "int a; foo(1)[2].bar->ba";
  const CursorContext context = context_of_cursor(code, code.size());
  EXPECT_EQ(context.object, "foo(1)[2].bar");
  EXPECT_EQ(context.connector, "->");
  EXPECT_EQ(context.word, "ba");
  EXPECT_EQ(context.statements, "int a;\n");
}

TEST(CursorContext, TakesTheStatementsOfOpenBlocks) {
  const std::string code = "int a; void f() { int b; if (a) { int c; x";
  EXPECT_EQ(context_of_cursor(code, code.size()).statements, "int a;\n int b;\n int c;\n");
}

TEST(CursorContext, KeepsDirectivesAndClosedBlocks) {
  const std::string code = "#include <vector>\nstruct A { int b; };\nA a; a.";
  EXPECT_EQ(context_of_cursor(code, code.size()).statements,
            "#include <vector>\nstruct A { int b; };\nA a;\n");
}

TEST(CursorContext, SeesTheWholeWordAroundTheCursor) {
  const CursorContext context = context_of_cursor("std::vector<int> v;", 8);
  EXPECT_EQ(context.word, "vec");
  EXPECT_EQ(context.whole_word, "vector");
  EXPECT_EQ(context.object, "std");
}

}  // namespace
}  // namespace px::cpp
