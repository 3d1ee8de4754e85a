#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class CellsAgain : public NotebookTest {
 protected:
  /// Runs a cell, the same one again, and a changed one; each time the expression is what it says.
  void expect_again(const std::string& code, const std::string& changed,
                    const std::string& expression, double first, double second) {
    SCOPED_TRACE(code);
    runs(code);
    EXPECT_EQ(value(expression), first);
    runs(code);
    EXPECT_EQ(value(expression), first);
    runs(changed);
    EXPECT_EQ(value(expression), second);
  }
};

TEST_F(CellsAgain, MembersOutsideOfTheirClass) {
  const std::string type =
      "struct Acc { double sum = 0; static int made; Acc(); ~Acc(); void dep(double);"
      " double get() const; virtual int kind(); };";
  runs(type);
  runs("int Acc::made = 0; int Acc::kind() { return 1; }");
  runs("Acc::Acc() { ++made; } Acc::~Acc() {}");
  runs("inline double Acc::get() const { return sum; }");
  expect_again("void Acc::dep(double x) { sum += x; }", "void Acc::dep(double x) { sum -= x; }",
               "[] { Acc a; a.dep(2); return a.get(); }()", 2, -2);
  expect_again("Acc::Acc() { sum = 5; }", "Acc::Acc() : sum(6) {}", "Acc().sum", 5, 6);
  expect_again("int Acc::made = 3;", "int Acc::made = 4;", "Acc::made", 3, 4);
  expect_again("inline double Acc::get() const { return 10; }",
               "inline double Acc::get() const { return 11; }", "Acc().get()", 10, 11);
  // Objects of a constructor that is compiled keep what it gave them.
  expect_again("int Acc::kind() { return 7; } Acc::Acc() {}",
               "int Acc::kind() { return 8; } Acc::Acc() {}",
               "[] { Acc a; Acc& b = a; return b.kind(); }()", 7, 8);
  // The class again, and its members again.
  runs(type);
  runs("int Acc::kind() { return 21; } int Acc::made = 0;");
  runs("void Acc::dep(double x) { sum += 2 * x; }");
  runs("Acc::Acc() {} Acc::~Acc() {}");
  runs("inline double Acc::get() const { return sum; }");
  EXPECT_EQ(value("[] { Acc a; a.dep(2); return a.get() + a.kind(); }()"), 25);
}

TEST_F(CellsAgain, WhatANamespaceDeclares) {
  runs("namespace outer { extern int level; int read(); }");
  expect_again("int outer::level = 1;", "int outer::level = 2;", "outer::level", 1, 2);
  expect_again("int outer::read() { return level; }", "int outer::read() { return level + 5; }",
               "outer::read()", 2, 7);
}

TEST_F(CellsAgain, MembersOfClassTemplates) {
  runs(
      "template <class T> struct Box { T v; Box(T t); T get() const; static int count;"
      " template <class U> U as() const; };");
  runs("template <class T> Box<T>::Box(T t) : v(t) {} template <class T> int Box<T>::count = 0;");
  runs("template <class T> template <class U> U Box<T>::as() const { return U(v); }");
  expect_again("template <class T> T Box<T>::get() const { return v; }",
               "template <class T> T Box<T>::get() const { return v + 1; }", "Box<int>(4).get()", 4,
               5);
  EXPECT_EQ(value("Box<long>(4).get()"), 5);
  expect_again("template <class T> Box<T>::Box(T t) : v(t * 2) {}",
               "template <class T> Box<T>::Box(T t) : v(t * 3) {}", "Box<int>(4).v", 8, 12);
  // What exists keeps its value.
  expect_again("template <class T> int Box<T>::count = 5;",
               "template <class T> int Box<T>::count = 6;", "Box<int>::count", 5, 5);
  EXPECT_EQ(value("Box<float>::count"), 6);
  expect_again("template <class T> template <class U> U Box<T>::as() const { return U(v) + 10; }",
               "template <class T> template <class U> U Box<T>::as() const { return U(v) + 20; }",
               "Box<int>(1).as<double>()", 13, 23);
}

TEST_F(CellsAgain, ExplicitSpecializationsOfFunctions) {
  runs("template <class T> int rank() { return 0; } template <class T> int twice(T) { return 2; }");
  expect_again("template <> int rank<int>() { return 1; }",
               "template <> int rank<int>() { return 2; }", "rank<int>()", 1, 2);
  expect_again("template <> inline int twice(char) { return 4; }",
               "template <> inline int twice(char) { return 5; }", "twice('a')", 4, 5);
  EXPECT_EQ(value("rank<double>()"), 0);
}

TEST_F(CellsAgain, Operators) {
  runs("struct P { int x; P operator-() const; bool operator==(const P&) const = default; };");
  expect_again("P operator+(const P& a, const P& b) { return {a.x + b.x}; }",
               "P operator+(const P& a, const P& b) { return {a.x * b.x}; }", "(P{2} + P{3}).x", 5,
               6);
  expect_again("P P::operator-() const { return {-x}; }", "P P::operator-() const { return {9}; }",
               "(-P{2}).x", -2, 9);
  expect_again("template <class T> int operator<<(T& t, const P& p) { return t + p.x; }",
               "template <class T> int operator<<(T& t, const P& p) { return t - p.x; }",
               "[] { int n = 5; return n << P{3}; }()", 8, 2);
  expect_again("long operator\"\"_k(unsigned long long n) { return n * 1000; }",
               "long operator\"\"_k(unsigned long long n) { return n * 1024; }", "2_k", 2000, 2048);
}

TEST_F(CellsAgain, DeductionGuidesAndConcepts) {
  runs("template <class T> struct Box { T v{}; template <class U> Box(U) {} };");
  expect_again("Box(char) -> Box<short>;", "Box(char) -> Box<double>;", "sizeof(Box('a').v)", 2, 8);
  expect_again("template <class T> concept Small = sizeof(T) < 2;",
               "template <class T> concept Small = sizeof(T) < 8;", "Small<int>", 0, 1);
}

TEST_F(CellsAgain, FriendsOfAClass) {
  const std::string type =
      "class Safe { int secret = 4; friend int peek(const Safe&);"
      " friend int both(const Safe& a, const Safe& b) { return a.secret + b.secret; } };";
  runs(type);
  expect_again("int peek(const Safe& s) { return s.secret; }",
               "int peek(const Safe& s) { return s.secret + 1; }", "peek(Safe())", 4, 5);
  runs(type);
  runs("int peek(const Safe& s) { return s.secret + 2; }");
  EXPECT_EQ(value("peek(Safe()) * 100 + both(Safe(), Safe())"), 608);
}

class LambdasAtTheTop : public NotebookTest {};

TEST_F(LambdasAtTheTop, CopyTheVariablesOfCells) {
  runs("int factor = 3, other = 10;");
  runs("auto times = [factor](int x) { return factor * x; };");
  runs("auto sum = [=](int x) { return factor + other + x; };");
  runs("auto mixed = [=, &other] { return factor * 100 + other; };");
  runs("auto counted = [factor]() mutable { return ++factor; };");
  runs("factor = 5; other = 20;");
  EXPECT_EQ(value("times(2)"), 6);
  EXPECT_EQ(value("sum(1)"), 14);
  EXPECT_EQ(value("mixed()"), 320);
  EXPECT_EQ(value("counted() * 10 + counted()"), 45);
  EXPECT_EQ(value("factor"), 5);
}

TEST_F(LambdasAtTheTop, CopyThemInStatementsToo) {
  runs(
      "#include <functional>\n#include <vector>\nint n = 1; std::vector<std::function<int()>> "
      "all;");
  runs("all.push_back([=] { return n; }); all.push_back([n] { return n; });");
  runs("all.push_back([&] { return n; }); all.push_back([&n] { return n; });");
  runs("{ int k = 10; all.push_back([=] { return n + k; }); }");
  runs("n = 2;");
  EXPECT_EQ(value("all[0]() * 10 + all[1]()"), 11);
  EXPECT_EQ(value("all[2]() * 10 + all[3]()"), 22);
  EXPECT_EQ(value("all[4]()"), 11);
  runs("auto by_reference = [&] { return ++n; };");
  EXPECT_EQ(value("by_reference() * 10 + n"), 33);
}

TEST_F(LambdasAtTheTop, UseWhatCannotBeCopiedAsItIs) {
  runs("#include <memory>\nauto owner = std::make_unique<int>(4); int calls = 0;");
  runs("int got = 0; { auto f = [=] { ++calls; got = *owner; }; f(); }");
  EXPECT_EQ(value("got * 10 + calls"), 41);
}

TEST_F(LambdasAtTheTop, KeepWhatTheyHoldInLaterCells) {
  runs("#include <utility>\nauto f = [n = 3](int x) mutable { return n += x; };");
  runs("auto g = std::pair(4, [](int x) {\n  return x + 1;\n});");
  runs("f(1);");
  EXPECT_EQ(value("f(1) * 100 + g.first * 10 + g.second(1)"), 542);
}

class MacrosOfStatements : public NotebookTest {};

TEST_F(MacrosOfStatements, EndWhereTheirTextEnds) {
  runs("#define BEGIN_NS namespace t {\n#define END_NS }");
  runs("BEGIN_NS int j = 4; END_NS");
  EXPECT_EQ(value("t::j"), 4);
  runs("#define BLOCK_BEGIN {\n#define BLOCK_END }\nint seen = 0;");
  runs("BLOCK_BEGIN int k = 5; seen = k; BLOCK_END");
  EXPECT_EQ(value("seen"), 5);
  runs("#define TEST(name, result) int name() { return result; }\nTEST(five, 5)");
  runs("TEST(six, 6) TEST(seven, 7)");
  EXPECT_EQ(value("five() + six() + seven()"), 18);
  runs("#define TWO_OF(type, a, b) type a = 1; type b = 2");
  runs("TWO_OF(int, one, two);");
  fails("BLOCK_BEGIN int k = 5;", Kind::compile_error);
  fails("BEGIN_NS int open;", Kind::compile_error);
  runs("int one = 1;");
  EXPECT_EQ(value("one + two"), 3);
}

class Mistakes : public NotebookTest {};

TEST_F(Mistakes, ThatClangDoesNotSurviveAreSaidPlainly) {
  CellOutcome outcome = fails("int fine = 1;\nnamespace t {", Kind::compile_error);
  EXPECT_EQ(outcome.error_value, "cell 1, line 2, column 13: error: this '{' is never closed");
  EXPECT_EQ(outcome.traceback.back(), "      |             ^");
  fails("{ int q = 1;", Kind::compile_error);
  outcome = fails("int n = 2;\nreturn n;", Kind::compile_error);
  EXPECT_NE(outcome.error_value.find("line 2, column 1: error: 'return' is outside"),
            std::string::npos)
      << outcome.error_value;
  runs("#if 1\nvoid f() {\n#else\nvoid g() {\n#endif\n}");
  EXPECT_FALSE(session().is_defined("n"));
}

TEST(BoundedCheck, EndsACompilerThatDoesNot) {
  CppSession::Options options = options_with_report();
  options.limits.processor_seconds = 1;
  const auto session = CppSession::create(options);
  ASSERT_TRUE(session) << session.error().what;
  // 2^40 steps of the compiler, each of which is cheap.
  const CellOutcome outcome = (*session)->run(
      "template <int n, int k> struct F { static constexpr int v = F<n - 1, 2 * k>::v +"
      " F<n - 1, 2 * k + 1>::v; }; template <int k> struct F<0, k> { static constexpr int v = 1; };"
      "int n = F<29, 0>::v;",
      "cell 1");
  EXPECT_EQ(outcome.kind, Kind::compile_error);
  EXPECT_NE(outcome.error_value.find("did not finish this cell in 1 s"), std::string::npos)
      << outcome.error_value;
  EXPECT_TRUE((*session)->run("int after = 1;", "cell 2").is_ok());
}

TEST(BoundedCheck, EndsACompilerThatTakesAllMemory) {
  CppSession::Options options = options_with_report();
  options.limits.more_bytes = std::size_t{64} << 20;
  const auto session = CppSession::create(options);
  ASSERT_TRUE(session) << session.error().what;
  const CellOutcome outcome = (*session)->run(
      "template <int n, int k> struct F { static constexpr int v = F<n - 1, 2 * k>::v +"
      " F<n - 1, 2 * k + 1>::v; }; template <int k> struct F<0, k> { static constexpr int v = 1; };"
      "int n = F<29, 0>::v;",
      "cell 1");
  EXPECT_EQ(outcome.kind, Kind::compile_error);
  EXPECT_NE(outcome.error_value.find("too much memory"), std::string::npos) << outcome.error_value;
  EXPECT_TRUE((*session)->run("int after = 1;", "cell 2").is_ok());
}

}  // namespace
}  // namespace px::cpp
