// What C++ keeps to one part of a program is there for all later cells, with its value.
#include <fstream>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class PrivateNames : public NotebookTest {
 protected:
  PrivateNames() { runs("int same(int n) { volatile int copy = n; return copy; }"); }
};

TEST_F(PrivateNames, AStaticBesideATemplateWhoseNameWasThatOfAClass) {
  runs("template <class T> struct Name { T a = 1; };");
  runs("struct Name { double get() { return 2; } };");
  runs(
      "static int number = same(66); template <class T> struct Name { T get() const; };"
      "template <class T> T Name<T>::get() const { return T(same(107)); }");
  EXPECT_EQ(value("number"), 66);
  EXPECT_EQ(value("Name<int>().get()"), 107);
}

TEST_F(PrivateNames, AVariableThatIsStaticByAMacro) {
  runs("#define LOCAL static\n#define LOCAL_INT(name, n) static int name = same(n);");
  runs("LOCAL int a = same(5);");
  EXPECT_EQ(value("a"), 5);
  runs("LOCAL_INT(b, 6) px_reported = b; b += 1;");
  EXPECT_EQ(value("b"), 7);
  runs("LOCAL_INT(b, 26)");
  EXPECT_EQ(value("b"), 26);
  runs("LOCAL double b = 2.5;");
  EXPECT_EQ(value("b"), 2.5);
}

TEST_F(PrivateNames, AFunctionThatIsStaticByAMacroKeepsWhatIsStaticInIt) {
  runs("#define LOCAL static\n");
  runs("LOCAL int next() { static int count = same(20); return count++; }");
  EXPECT_EQ(value("next()"), 20);
  EXPECT_EQ(value("next()"), 21);
  runs("LOCAL int next() { static int count = same(30); return count++; }");
  EXPECT_EQ(value("next()"), 30);
}

TEST_F(PrivateNames, WhatIsStaticInAHeaderOfTheUser) {
  const std::string header = testing::TempDir() + "px_statics.hpp";
  std::ofstream(header)
      << "#pragma once\nint same(int n); static int later();"
         "static int number = same(70);"
         "static int next() { static int id = 0; return ++id; }"
         "static int later() { return 5 + next(); }"
         "template <class T> static T sum(T t) { static T all = 0; return all += t; }"
         "namespace deep { static int count; static int bump() { return ++count; } }";
  runs("#include \"" + header + "\"\n");
  EXPECT_EQ(value("number"), 70);
  runs("++number;");
  EXPECT_EQ(value("number"), 71);
  EXPECT_EQ(value("next()"), 1);
  EXPECT_EQ(value("later()"), 7);
  EXPECT_EQ(value("sum(3)"), 3);
  EXPECT_EQ(value("sum(4)"), 7);
  runs("deep::bump();");
  EXPECT_EQ(value("deep::bump() * 10 + deep::count"), 22);
}

TEST_F(PrivateNames, VariablesOfATypeWithoutAName) {
  runs("struct { int x; } a; a.x = 4;");
  EXPECT_EQ(value("a.x"), 4);
  runs("struct { struct { int y; } in; int x; } a = {{same(8)}, 2}, b = {{1}, 3};");
  EXPECT_EQ(value("a.in.y * 100 + a.x * 10 + b.x"), 823);
  runs("static union { int i; float f; } both; both.i = 3;");
  EXPECT_EQ(value("both.i"), 3);
  runs("enum { red, green } colour = green;");
  EXPECT_EQ(value("colour"), 1);
  runs("enum { red, green, blue } colour = blue;");
  EXPECT_EQ(value("colour"), 2);
}

TEST_F(PrivateNames, WhatAFunctionReturnsThatOnlyItKnows) {
  runs("auto adder(int n) { return [n](int a) { return a + n; }; }");
  runs("auto add5 = adder(same(5));");
  EXPECT_EQ(value("add5(1)"), 6);
  runs("auto add6 = adder(6); px_reported = add6(1);");
  EXPECT_EQ(value("add6(1) * 100 + add5(2)"), 707);
  runs("static auto make() { struct Local { int v; }; return Local{3}; } auto local = make();");
  EXPECT_EQ(value("local.v"), 3);
  runs("auto adder(int n) { return [n](int a) { return a - n; }; }");
  runs("auto minus = adder(2);");
  EXPECT_EQ(value("minus(9) * 100 + add5(2)"), 707);
}

TEST_F(PrivateNames, StaticsOfOtherKinds) {
  runs("#include <utility>\nstatic auto [a, b] = std::pair<int, int>(same(7), same(8));");
  EXPECT_EQ(value("a * 10 + b"), 78);
  runs("extern \"C\" { static int c = same(33); }");
  EXPECT_EQ(value("c"), 33);
}

}  // namespace
}  // namespace px::cpp
