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

}  // namespace
}  // namespace px::cpp
