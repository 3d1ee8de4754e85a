#include <gtest/gtest.h>

#include <fstream>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class Redefining : public SessionTest {};

TEST_F(Redefining, AVariableWithTheSameType) {
  runs("int x = 1;");
  runs("int x = 2;");
  EXPECT_EQ(value("x"), 2);
}

TEST_F(Redefining, AVariableWithAnotherType) {
  runs("int x = 1;");
  runs("double x = 2.5;");
  EXPECT_EQ(value("x"), 2.5);
  runs("const char* x = \"abc\";");
  EXPECT_EQ(value("x[1]"), 'b');
}

TEST_F(Redefining, AVariableLeavesTheOldOneToTheFunctionsThatUseIt) {
  runs("int x = 1; int get() { return x; }");
  runs("double x = 2.5;");
  EXPECT_EQ(value("get()"), 1);
}

TEST_F(Redefining, AFunctionWithAnotherBody) {
  runs("int f() { return 1; }");
  runs("int f() { return 2; }");
  EXPECT_EQ(value("f()"), 2);
}

TEST_F(Redefining, AFunctionWithAnotherReturnType) {
  runs("int f() { return 1; }");
  runs("double f() { return 2.5; }");
  EXPECT_EQ(value("f()"), 2.5);
}

TEST_F(Redefining, AFunctionLeavesItsOverloads) {
  runs("int f(int) { return 1; } int f(double) { return 2; }");
  runs("int f(int) { return 3; }");
  EXPECT_EQ(value("f(0) * 10 + f(0.5)"), 32);
}

TEST_F(Redefining, AFunctionAsAVariableAndBack) {
  runs("int f(int) { return 1; } int f(double) { return 2; }");
  runs("int f = 5;");
  EXPECT_EQ(value("f"), 5);
  runs("int f() { return 6; }");
  EXPECT_EQ(value("f()"), 6);
}

TEST_F(Redefining, AClassByANamespaceAsksForNothing) {
  runs("template <class T> struct x { T v; };");
  runs("template <class T> struct x { T w; };");
  runs("namespace x { int y = 9; }");
  EXPECT_EQ(session().warnings(), "");
  EXPECT_EQ(value("x::y"), 9);
}

TEST_F(Redefining, AFunctionWithDefaultArguments) {
  runs("int f(int a = 1) { return a; }");
  runs("int f(int a = 2) { return a; }");
  EXPECT_EQ(value("f()"), 2);
}

TEST_F(Redefining, AnInlineFunctionWithAStaticInside) {
  runs("inline int count() { static int n = 10; return ++n; }");
  EXPECT_EQ(value("count()"), 11);
  EXPECT_EQ(value("count()"), 12);
  runs("inline int count() { static int n = 20; return ++n; }");
  EXPECT_EQ(value("count()"), 21);
}

TEST_F(Redefining, AVariableBesideATypeOfItsName) {
  runs("struct Box { int v; Box(int n) : v(n) {} };  const Box x(1);");
  runs("enum class x { one = 1 };");
  EXPECT_EQ(value("(int)x::one"), 1);
  runs("static int x = 3;");
  EXPECT_EQ(value("x"), 3);
}

TEST_F(Redefining, AVariableByATypeAndBack) {
  runs("int x = 1; int y() { return 1; }");
  runs("struct x { int a = 2; }; enum class y { two = 2 };");
  EXPECT_EQ(value("x().a + (int)y::two"), 4);
  runs("int x = 3;");
  EXPECT_EQ(value("x"), 3);
  runs("enum class x { four = 4 };");
  EXPECT_EQ(value("(int)x::four"), 4);
  runs("struct x { int a = 5; };");
  EXPECT_EQ(value("x().a"), 5);
}

TEST_F(Redefining, AConstantAgainAndAgain) {
  runs("int counter = 1; int next() { return counter++; }");
  runs("const int x = next();");
  EXPECT_EQ(value("counter"), 2);  // it was initialized at once
  EXPECT_EQ(value("x * 10 + x"), 11);
  EXPECT_EQ(value("counter"), 2);
  runs("int x = 3;");
  EXPECT_EQ(value("x"), 3);
  runs("double x = 4.5;");
  EXPECT_EQ(value("x"), 4.5);
  runs("static const int x = next();");
  EXPECT_EQ(value("x"), 2);
  runs("constexpr int x = 6; const int* pointer = &x;");
  EXPECT_EQ(value("*pointer"), 6);
  runs("const double x = 7.5; const double* place = &x;");
  EXPECT_EQ(value("*place"), 7.5);
  runs("namespace { int x = 8; }");
  runs("int before = counter; const int then = counter;");
  runs("++counter;");
  EXPECT_EQ(value("then - before"), 0);
}

TEST_F(Redefining, AConstantIsInitializedInItsTurn) {
  runs("int first() { return 5; } struct Bag { int held = 0; int size() { return held; } } given;");
  runs("int mine = first(); const int also = mine + 1; int last = also + 1;");
  EXPECT_EQ(value("also * 10 + last"), 67);
  runs("++given.held; const int count = given.size(); ++given.held;");
  EXPECT_EQ(value("count"), 1);
  runs("given.held = 0; const int count = given.size() + 7, more = count;");
  EXPECT_EQ(value("count + more"), 14);
  runs("mine = 2; static const int also = mine; namespace inner { const int also = mine + 1; }");
  EXPECT_EQ(value("also * 10 + inner::also"), 23);
}

TEST_F(Redefining, AnInlineVariable) {
  runs("struct Box { int v; Box(int n) : v(n) {} ~Box() { v = 0; } }; inline const Box x(1);");
  EXPECT_EQ(value("x.v"), 1);
  runs("int two() { return 2; } inline int x = two();");
  EXPECT_EQ(value("x"), 2);
  runs("static double x = two() + 0.5;");
  EXPECT_EQ(value("x"), 2.5);
  runs("const Box x(4);");
  EXPECT_EQ(value("x.v"), 4);
}

TEST_F(Redefining, AVariableTemplate) {
  runs("template <class T> T half = T(1) / 2;");
  EXPECT_EQ(value("half<double>"), 0.5);
  runs("template <class T> T half = T(3) / 2;");
  EXPECT_EQ(value("half<double>"), 1.5);
}

TEST_F(Redefining, AStruct) {
  runs("struct P { int x; int get() const { return x; } };");
  EXPECT_EQ(value("P{3}.get()"), 3);
  runs("struct P { double y, x; int get() const { return (int)(x + y); } };");
  EXPECT_EQ(value("(P{1, 10}.get())"), 11);
}

TEST_F(Redefining, AStructNeverMixesTheCodeOfBoth) {
  runs(
      "struct P { int x; __attribute__((noinline)) int get() const { return x; } };"
      "P old{7};");
  EXPECT_EQ(value("old.get()"), 7);
  runs("struct P { double a, b; __attribute__((noinline)) int get() const { return (int)b; } };");
  runs("P young{1, 2};");
  EXPECT_EQ(value("young.get()"), 2);
  EXPECT_EQ(value("old.get()"), 7);
  EXPECT_EQ(value("young.get() * 10 + old.get()"), 27);
}

TEST_F(Redefining, AStructAndTheContainersOfIt) {
  runs(
      "template <class T> struct Box { T* p; __attribute__((noinline)) Box(T t) : p(new T(t)) {}"
      "  __attribute__((noinline)) ~Box() { delete p; } T& get() { return *p; } };");
  runs("struct P { int x; }; { Box<P> box(P{5}); px_reported = box.get().x; }");
  EXPECT_EQ(reported, 5);
  runs("Box<P> old(P{6});");
  runs("struct P { char pad[256]; int x; };");
  runs("{ P p{}; p.x = 8; Box<P> box(p); px_reported = box.get().x + old.get().x; }");
  EXPECT_EQ(reported, 14);
}

TEST_F(Redefining, AStructWithMembersThatAreDestroyed) {
  runs("int gone = 0; struct M { int n; ~M() { gone += n; } };");
  runs("struct P { M a{1}; }; { P p; }");
  EXPECT_EQ(value("gone"), 1);
  runs("struct P { M a{10}; M b{100}; }; { P p; }");
  EXPECT_EQ(value("gone"), 111);
  runs("{ P p; }");
  EXPECT_EQ(value("gone"), 221);
}

TEST_F(Redefining, AClassWithVirtualFunctions) {
  runs("struct A { virtual ~A() {} virtual int f() { return 1; } }; struct B : A {};");
  EXPECT_EQ(value("B().f()"), 1);
  runs("struct A { virtual ~A() {} virtual int g() { return 3; } virtual int f() { return 2; } };");
  runs("struct B : A {};");
  EXPECT_EQ(value("B().f() * 10 + B().g()"), 23);
}

TEST_F(Redefining, AClassTemplate) {
  runs("template <class T> struct Box { T v; T get() { return v; } };");
  EXPECT_EQ(value("Box<int>{1}.get()"), 1);
  runs("template <class T> struct Box { T v; T get() { return v + 1; } };");
  EXPECT_EQ(value("Box<int>{1}.get()"), 2);
}

TEST_F(Redefining, AFunctionTemplate) {
  runs("template <class T> __attribute__((noinline)) T add(T a) { return a + 1; }");
  EXPECT_EQ(value("add(1)"), 2);
  runs("template <class T> __attribute__((noinline)) T add(T a) { return a + 2; }");
  EXPECT_EQ(value("add(1)"), 3);
}

TEST_F(Redefining, AnEnum) {
  runs("enum Color { red, green };");
  runs("enum Color { green, blue, red };");
  EXPECT_EQ(value("red"), 2);
  runs("enum class Size { small }; ");
  runs("enum class Size { big, small };");
  EXPECT_EQ(value("(int)Size::small"), 1);
}

TEST_F(Redefining, ALambda) {
  runs("auto f = [](int n) { return n + 1; };");
  runs("auto f = [](double n) { return n + 2; };");
  EXPECT_EQ(value("f(0.5)"), 2.5);
}

TEST_F(Redefining, ALambdaByAVariable) {
  runs("int same(int n) { return n; } auto x = [](auto n) { return same(n); };");
  runs("int x = same(4);");
  EXPECT_EQ(value("x"), 4);
}

TEST_F(Redefining, AFunctionByAReferenceToWhatIsUnnamed) {
  runs("int x() { return 1; }");
  runs("namespace { int inner = -6; } int& x = inner;");
  EXPECT_EQ(value("x"), -6);
}

TEST_F(Redefining, WhatIsInAnUnnamedNamespace) {
  runs("namespace { int inner() { return 1; } } const char* text = \"namespace {\";");
  runs("namespace{ int inner() { return 2; } }");
  EXPECT_EQ(value("inner()"), 2);
  runs("namespace a { int x = 1; }");
  runs("namespace a { int x = 2; }");
  EXPECT_EQ(value("a::x"), 2);
  EXPECT_EQ(value("text[10]"), '{');
}

TEST_F(Redefining, AnAlias) {
  runs("using Number = int;");
  runs("using Number = double;");
  EXPECT_EQ(value("Number(0.5)"), 0.5);
}

TEST_F(Redefining, WhatIsInANamespace) {
  runs("namespace geometry { int sides() { return 3; } int other() { return 1; } }");
  runs("namespace geometry { int sides() { return 4; } }");
  EXPECT_EQ(value("geometry::sides() * 10 + geometry::other()"), 41);
}

TEST_F(Redefining, AnOperator) {
  runs("struct V { int x; }; V operator+(V a, V b) { return {a.x + b.x}; }");
  runs("V operator+(V a, V b) { return {a.x * b.x}; }");
  EXPECT_EQ(value("(V{3} + V{4}).x"), 12);
}

TEST_F(Redefining, AUsingOfAFunctionByAnotherOne) {
  runs("namespace a { int f(int) { return 1; } int f(double) { return 2; } }");
  runs("namespace c { int f(int) { return 3; } }");
  runs("using a::f;");
  EXPECT_EQ(value("f(0) * 10 + f(0.5)"), 12);
  runs("using c::f;");
  EXPECT_EQ(value("f(0) * 10 + f(0.5)"), 32);
  runs("using a::f; px_reported = f(0);");
  EXPECT_EQ(reported, 1);
}

TEST_F(Redefining, AUsingByWhatACellDefinesAndBack) {
  runs("namespace a { int f() { return 1; } int x = 2; struct S { int n = 3; }; }");
  runs("using a::f; using a::x; using a::S;");
  EXPECT_EQ(value("f() * 100 + x * 10 + S().n"), 123);
  runs("int f() { return 4; } double x = 5; struct S { int n = 6; };");
  EXPECT_EQ(value("f() * 100 + x * 10 + S().n"), 456);
  runs("using a::f; using a::x; using a::S;");
  EXPECT_EQ(value("f() * 100 + x * 10 + S().n"), 123);
  EXPECT_EQ(value("a::f() * 100 + a::x * 10 + a::S().n"), 123);
  runs("struct f { int n = 7; }; enum x { seven = 7 };");
  EXPECT_EQ(value("f().n * 10 + x(7)"), 77);
}

TEST_F(Redefining, AFunctionByAClassThatIsUsedInItsCell) {
  runs("int f() { return 1; } int g = 2;");
  runs("struct f { int a = 3; }; f made; px_reported = made.a + f().a;");
  EXPECT_EQ(reported, 6);
  runs("enum g { zero, four = 4 }; g chosen = four; px_reported = chosen;");
  EXPECT_EQ(reported, 4);
}

TEST_F(Redefining, AFunctionByATemplateWhoseNameIsSpelledAlmostAsAnotherOnes) {
  runs("template <class T> struct Box1 { int get() { return 0; } };"
       "template <> int Box1<int>::get() { return 1; }");
  runs("int Box2() { return 5; }");
  runs("template <class T> struct Box2 { int get() { return 0; } };"
       "template <> int Box2<int>::get() { return 2; }");
  EXPECT_EQ(value("10 * Box1<int>().get() + Box2<int>().get()"), 12);
}

TEST_F(Redefining, AnOwnHeaderThatIsIncludedAgain) {
  const std::string header = testing::TempDir() + "px_unguarded.hpp";
  std::ofstream(header)
      << "int plain(int n) { return n + 1; } int kept = 1; enum Kind { first = 1 };"
      << "struct Own { int v = 1; __attribute__((noinline)) int get() const { return v + 1; } };"
      << "inline int count() { static int n = 1; return n; } const int fixed = 1;";
  const std::string all = "plain(0) + kept + Own().get() + count() + first + fixed";
  runs("#include \"" + header + "\"\n");
  EXPECT_EQ(value(all), 7);
  runs("kept = 2; Own old; old.v = 10;");
  EXPECT_EQ(value(all), 8);
  runs("#include \"" + header + "\"\n");
  EXPECT_EQ(value(all), 7);
  EXPECT_EQ(value("old.get()"), 11);
  runs("#include \"" + header + "\"\npx_reported = " + all + ";");
  EXPECT_EQ(reported, 7);
}

TEST_F(Redefining, AConstantOfAClassThatNoCellDefines) {
  runs("struct S { static const int n{5}; static const int more = 6; };");
  runs("const int* place = &S::n; int at(const int& r) { return r; }");
  EXPECT_EQ(value("*place"), 5);
  EXPECT_EQ(value("at(S::more)"), 6);
  EXPECT_EQ(value("place == &S::n"), 1);
  runs("const int S::more; const int* defined = &S::more;");
  EXPECT_EQ(value("*defined"), 6);
  runs("struct S { static const int n = 7; };");
  EXPECT_EQ(value("at(S::n) * 10 + *place"), 75);
  runs("template <class T> class Box { static const int size = sizeof(T); public:"
       " static const int& get() { return size; } };");
  EXPECT_EQ(value("Box<char>::get() + Box<double>::get()"), 9);
}

TEST_F(Redefining, AConcept) {
  runs("template <class T> concept Small = sizeof(T) < 4;");
  runs("template <class T> concept Small = sizeof(T) < 16;");
  EXPECT_EQ(value("Small<double>"), 1);
}

TEST_F(Redefining, StructuredBindings) {
  runs("struct Pair { int a, b; }; auto [first, second] = Pair{1, 2};");
  runs("auto [first, second] = Pair{3, 4};");
  EXPECT_EQ(value("first * 10 + second"), 34);
}

TEST_F(Redefining, AnInlineVariableThatNobodyUsesAndThenAStructuredBinding) {
  runs("#include <utility>\nint one() { return 1; }");
  runs("double x = 2.5;");
  runs("inline int x = one();");
  runs("auto [x, y] = std::pair{3, 4}; int twice() { return 2 * x; }");
  EXPECT_EQ(value("x"), 3);
  runs("auto [x, z] = std::pair{5, 6};");
  EXPECT_EQ(value("x + z"), 11);
  EXPECT_EQ(value("twice()"), 6);
  runs("int x = 7;");
  EXPECT_EQ(value("x + twice()"), 13);
}

TEST_F(Redefining, AnInlineFunctionThatNobodyUsesBesideAClassByWhatIsNone) {
  runs("inline int f() { return 1; } template <class T> struct c { T a; };");
  runs("int f() { return 2; } enum c { nothing, much = 8 };");
  EXPECT_EQ(value("f() * 10 + c(much)"), 28);
  runs("inline int g() { return 1; } struct d { int a; };");
  runs("int g() { return 2; } template <class T> concept d = sizeof(T) == 4;");
  EXPECT_EQ(value("g() * 10 + d<float>"), 21);
  runs("inline int h() { return 1; } struct e { int a; };");
  runs("int h() { return 2; } using e = int;");
  EXPECT_EQ(value("h() * 10 + e(3)"), 23);
}

TEST_F(Redefining, ACellThatIsRunTwiceAsAWhole) {
  const char* cell =
      "enum Kind { small = 1, big }; struct S { Kind kind; int get() { return kind; } };"
      "template <class T> T same(T t) { return t; } using Alias = S; const int limit = 5;"
      "int use(S s) { return same(s).get() + limit; } S s{big}; auto l = [] { return use(s); };";
  runs(cell);
  EXPECT_EQ(value("l()"), 7);
  runs(cell);
  EXPECT_EQ(value("l()"), 7);
}

TEST_F(Redefining, TwiceInOneCellIsAnError) {
  runs("int x = 1;");
  fails("int x = 2; int x = 3;", Kind::compile_error);
  EXPECT_EQ(value("x"), 1);
}

TEST_F(Redefining, ConstantsAndStaticsOfEarlierCellsAreFound) {
  runs(
      "const int n = 5; static int m = 6; static int next() { return ++m; }"
      "namespace { int hidden = 8; } constexpr double half = 0.5; const double third = 1.0 / n;");
  EXPECT_EQ(value("n + m + hidden + half"), 19.5);
  EXPECT_EQ(value("next()"), 7);
  EXPECT_EQ(value("next()"), 8);
  EXPECT_EQ(value("m"), 8);
  runs("const int* pointer = &n;");
  EXPECT_EQ(value("*pointer"), 5);
  EXPECT_EQ(value("third"), 0.2);
}

}  // namespace
}  // namespace px::cpp
