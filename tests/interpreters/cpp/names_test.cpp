#include <gtest/gtest.h>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class Names : public SessionTest {};

TEST_F(Names, OfVariablesAreThoseThatCellsHaveDefined) {
  runs("#include <iostream>\nint first = 1; double second, _hidden; int function() { return 1; }");
  runs("struct Third {} third; namespace apart { int fourth; } std::string first;");
  EXPECT_EQ(session().variables(), (std::vector<std::string>{"second", "third", "first"}));
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

}  // namespace
}  // namespace px::cpp
