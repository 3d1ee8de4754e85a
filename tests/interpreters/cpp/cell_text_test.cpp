#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/cells/completeness.hpp"

#include <gtest/gtest.h>

#include <regex>

namespace px::cpp {
namespace {

/// The last expression of the code, "" where it has none.
std::string tail_of(const std::string& code) {
  const auto tail = find_tail(code);
  return tail ? code.substr(tail->begin, tail->end - tail->begin) : "";
}

struct Tail {
  const char* code;
  const char* expected;
};
void PrintTo(const Tail& tail, std::ostream* out) {
  *out << tail.code;
}

class TailOfACell : public testing::TestWithParam<Tail> {};
TEST_P(TailOfACell, IsFound) {
  EXPECT_EQ(tail_of(GetParam().code), GetParam().expected);
}

const Tail expressions[] = {
    {"x", "x"},
    {"  x + 1  ", "x + 1"},
    {"int x = 3; x", "x"},
    {"int x = 3;\nx\n", "x"},
    {"x // its value", "x"},
    {"x /* its value */", "x"},
    {"// first\nx", "x"},
    {"#include <vector>\nstd::vector<int>{1, 2, 3}", "std::vector<int>{1, 2, 3}"},
    {"#define TWO 2\nTWO", "TWO"},
    {"#define LONG \\\n  2\nLONG", "LONG"},
    {"std::vector<int>{1, 2, 3}", "std::vector<int>{1, 2, 3}"},
    {"std::map<std::string, int>{{\"a\", 1}}", "std::map<std::string, int>{{\"a\", 1}}"},
    {"Point{1, 2}", "Point{1, 2}"},
    {"Point{1, 2}.x", "Point{1, 2}.x"},
    {"Point(1, 2)", "Point(1, 2)"},
    {"\"text; with } in it\"", "\"text; with } in it\""},
    {"R\"(raw \" ; } text)\"", "R\"(raw \" ; } text)\""},
    {"R\"x(raw )\" ; } text)x\"", "R\"x(raw )\" ; } text)x\""},
    {"u8R\"(;)\"", "u8R\"(;)\""},
    {"';'", "';'"},
    {"'\\''", "'\\''"},
    {"'\"'", "'\"'"},
    {"1'000'000", "1'000'000"},
    {"0x1p-3", "0x1p-3"},
    {"1e+3", "1e+3"},
    {"'a' + 1'000", "'a' + 1'000"},
    {"std::string s = \"it's; \"; s", "s"},
    {"for (int i = 0; i < 3; ++i) f(i);\nx", "x"},
    {"for (int i = 0; i < 3; ++i) { f(i); }\n*p", "*p"},
    {"for (auto& e : v) e *= 2;\nv", "v"},
    {"while (i < 3) { ++i; }\n(i)", "(i)"},
    {"if (a) { b(); } else { c(); }\nd", "d"},
    {"if (a) b(); else c();\nd", "d"},
    {"if constexpr (a) { b(); }\nd", "d"},
    {"if (a) b(); else if (c) d(); else { e(); }\n-f", "-f"},
    {"do { ++i; } while (i < 3);\ni", "i"},
    {"switch (i) { case 1: f(); break; default: g(); }\ni", "i"},
    {"try { f(); } catch (const E& e) { g(); } catch (...) { h(); }\ni", "i"},
    {"{ int y = 2; f(y); }\nx", "x"},
    {"int f() { return 1; }\nf()", "f()"},
    {"int f(int x) { return x; } f(3)", "f(3)"},
    {"auto f() -> int { return 1; }\nf()", "f()"},
    {"auto f() -> std::vector<int> { return {1}; }\nf()", "f()"},
    {"auto f(int x) noexcept -> int { return x; }\nf(2)", "f(2)"},
    {"int A::f() const { return 1; }\na.f()", "a.f()"},
    {"A::A() : x(1), y{2} { z(); }\nA()", "A()"},
    {"A::~A() {}\na", "a"},
    {"bool operator==(A a, A b) { return a.x == b.x; }\na == b", "a == b"},
    {"std::ostream& operator<<(std::ostream& o, const A& a) { return o << a.x; }\na", "a"},
    {"void f() noexcept(true) {}\nx", "x"},
    {"template <class T> T twice(T x) { return 2 * x; }\ntwice(4)", "twice(4)"},
    {"template <class T> requires std::integral<T> T f(T x) { return x; }\nf(1)", "f(1)"},
    {"template <class T> requires requires(T a) { a + 1; } T f(T x) { return x; }\nf(1)", "f(1)"},
    {"template <std::size_t N = (1 > 0)> struct B { int x[N]; };\nB<2>{}", "B<2>{}"},
    {"struct P { int x; };\nP{3}", "P{3}"},
    {"struct P { int x; } p;\np", "p"},
    {"class C { public: int f() { return 1; } };\nC().f()", "C().f()"},
    {"enum class E { a, b };\nE::a", "E::a"},
    {"union U { int a; float b; };\nU{1}.a", "U{1}.a"},
    {"namespace n { int x = 1; }\nn::x", "n::x"},
    {"inline namespace n { int x = 1; }\nx", "x"},
    {"namespace a = b::c;\na::x", "a::x"},
    {"extern \"C\" { int f(int); }\nf(1)", "f(1)"},
    {"extern \"C\" int f(int x) { return x; }\nf(1)", "f(1)"},
    {"using namespace std;\nx", "x"},
    {"using V = std::vector<int>;\nV{1}", "V{1}"},
    {"auto f = [](int x) { return x; };\nf(1)", "f(1)"},
    {"[](int x) { return x; }(3)", "[](int x) { return x; }(3)"},
    {"[] { return 3; }()", "[] { return 3; }()"},
    {"[&]() mutable -> int { return 3; }()", "[&]() mutable -> int { return 3; }()"},
    {"std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });\nv", "v"},
    {"f([] { return 1; })", "f([] { return 1; })"},
    {"a = [] { return 1; }", "a = [] { return 1; }"},
    {"v[0]", "v[0]"},
    {"v[f(1)].x[2]", "v[f(1)].x[2]"},
    {"p->f()", "p->f()"},
    {"f()->g()", "f()->g()"},
    {"a ? b : c", "a ? b : c"},
    {"f(a) ? b : c", "f(a) ? b : c"},
    {"f(a) ? B{1} : B{2}", "f(a) ? B{1} : B{2}"},
    {"a < b", "a < b"},
    {"a == b", "a == b"},
    {"a, b", "a, b"},
    {"x = 3", "x = 3"},
    {"x += 3", "x += 3"},
    {"std::cout << x", "std::cout << x"},
    {"std::cout << \"a;b\\n\";\nx", "x"},
    {"new int[3]{1, 2, 3}", "new int[3]{1, 2, 3}"},
    {"int(3.5)", "int(3.5)"},
    {"double{2}", "double{2}"},
    {"decltype(x){3}", "decltype(x){3}"},
    {"sizeof(int)", "sizeof(int)"},
    {"throw 42", "throw 42"},
    {"::f()", "::f()"},
    {"!x", "!x"},
    {"*p", "*p"},
    {"&x", "&x"},
    {"~x", "~x"},
    {"++i", "++i"},
    {"\"a\"s + \"b\"", "\"a\"s + \"b\""},
    {"[[maybe_unused]] int f() { return 1; }\nf()", "f()"},
    {"#ifdef A\nint x;\n#endif\nx", "x"},
    {"#if A\nx\n#else\ny // if not\n#endif\n", "y"},
    {"#if A\nx\n#else\nint y;\n#endif\n\n", "x"},
    {"#if A\n#ifdef B\nx\n#endif\n#else\n#endif", "x"},
    {"int f() {\n#ifdef A\n  return 1;\n#else\n  return 2;\n#endif\n}\nf()", "f()"},
    {"// don't stop\nx", "x"},
    {"#error don't\nx", "x"},
    {"/* \" */ x /* ' */", "x"},
    {"\xC3\xA4", "\xC3\xA4"},
};
INSTANTIATE_TEST_SUITE_P(OfExpressions, TailOfACell, testing::ValuesIn(expressions));

const Tail others[] = {
    {"", ""},
    {"   \n", ""},
    {"// only a comment", ""},
    {";", ""},
    {"x;", ""},
    {"x; // shown no more", ""},
    {"x;;", ""},
    {"int x = 3;", ""},
    {"int x = 3", ""},
    {"int x", ""},
    {"unsigned long x{3}", ""},
    {"const auto x = f()", ""},
    {"static int x = 3", ""},
    {"constexpr int x = 3", ""},
    {"int f() { return 1; }", ""},
    {"std::vector<int> f(int x) { return {x}; }", ""},
    {"auto f() -> std::vector<int> { return {1}; }", ""},
    {"static auto f() -> int { return 1; }", ""},
    {"inline int f() { return 1; } // done", ""},
    {"int f(int x) try { return x; } catch (...) { return 0; }", ""},
    {"template <class T> T f(T x) { return x; }", ""},
    {"template <class T> struct S { T x; };", ""},
    {"struct P { int x; }", ""},
    {"struct P { int x; };", ""},
    {"enum class E { a, b }", ""},
    {"namespace n { int x; }", ""},
    {"extern \"C\" { int f(); }", ""},
    {"for (int i = 0; i < 3; ++i) f(i);", ""},
    {"for (int i = 0; i < 3; ++i) { f(i); }", ""},
    {"for (int i = 0; i < 3; ++i) f(i)", ""},
    {"if (a) b()", ""},
    {"if (a) { b(); }", ""},
    {"while (true) {}", ""},
    {"do { f(); } while (g())", ""},
    {"try { f(); } catch (...) { }", ""},
    {"switch (x) { case 1: f(); }", ""},
    {"{ f(); }", ""},
    {"using namespace std", ""},
    {"using V = int", ""},
    {"typedef int V", ""},
    {"#include <vector>", ""},
    {"#include <vector>\n", ""},
    {"x\n#include <vector>", ""},
    {"x\n#if A\n#endif", ""},
    {"#if A\nx\n#endif\nint y;", ""},
    {"f(", ""},
    {"\"unclosed", "\"unclosed"},
    {"R\"(unclosed", ""},
    {"/* unclosed", ""},
    {"x /* unclosed", ""},
    {"void f() requires C<int> { }", ""},
    {"A::A() : x(1), y{2} { }", ""},
    {"A& operator()(int x) { return *this; }", ""},
    {"using X = decltype([] { return 1; }())", ""},
    {"int a[] = {\n#include \"data\"\n}", ""},
};
INSTANTIATE_TEST_SUITE_P(WithoutOne, TailOfACell, testing::ValuesIn(others));

/// Without the directives that keep lines and columns as they were.
std::string flat(const std::string& form) {
  return std::regex_replace(form, std::regex("/\\*px\\*/|\n#line [0-9]+\n *"), "");
}

TEST(DisplayForm, WrapsTheLastExpression) {
  EXPECT_EQ(flat(*display_form("int x = 3; x // end")),
            "int x = 3; ::px::cell::Shower{}, (x);// end");
  EXPECT_EQ(display_form("x;"), std::nullopt);
}

TEST(DisplayForm, KeepsLinesAndColumns) {
  EXPECT_EQ(display_form("int x;\n  x;  y"),
            "int x;\n  x;  /*px*/::px::cell::Shower{}, (\n#line 2\n      y/*px*/);");
  const std::string form = forms_of({{}, "f();\ng(); h([] {}); i();"})[0];
  EXPECT_NE(form.find("() { \n#line 2\n     h([] {});/*px*/ } px_run_"), form.npos) << form;
  EXPECT_TRUE(form.ends_with("();\n#line 2\n               i();")) << form;
}

TEST(StatementForm, AddsTheSemicolonThatIsMissing) {
  EXPECT_EQ(statement_form("x"), "x;");
  EXPECT_EQ(statement_form("int x = 3 // three\n"), "int x = 3; // three\n");
  EXPECT_EQ(statement_form("struct P { int x; }"), "struct P { int x; };");
  EXPECT_EQ(statement_form("x;"), "x;");
  EXPECT_EQ(statement_form("#if A\nx\n#elif B\ny;\n#else\nz\n#endif"),
            "#if A\nx;\n#elif B\ny;\n#else\nz;\n#endif");
  EXPECT_EQ(statement_form("int f() {}"), "int f() {}");
  EXPECT_EQ(statement_form("for (;;) f()"), "for (;;) f();");
  EXPECT_EQ(statement_form("// nothing"), "// nothing");
  EXPECT_EQ(statement_form("#include <vector>"), "#include <vector>");
  EXPECT_EQ(statement_form(""), "");
}

// ---------------------------------------------------------------- directives

CellText read(const std::string& cell) {
  const auto text = read_cell(cell);
  EXPECT_TRUE(text) << text.error().what;
  return text ? *text : CellText{};
}

std::string why(const std::string& cell) {
  const auto text = read_cell(cell);
  return text ? "" : text.error().what;
}

TEST(Directives, AreTakenOutAndTheLinesKeepTheirNumbers) {
  const CellText text = read("%inc /opt/x/include\n%lib openblas\nint x;");
  ASSERT_EQ(text.directives.size(), 2u);
  EXPECT_EQ(text.directives[0].kind, DirectiveKind::include_folder);
  EXPECT_EQ(text.directives[0].arguments, std::vector<std::string>{"/opt/x/include"});
  EXPECT_EQ(text.directives[1].kind, DirectiveKind::library);
  EXPECT_EQ(text.directives[1].line, 2);
  EXPECT_EQ(text.code, std::string(19, ' ') + "\n" + std::string(13, ' ') + "\nint x;");
}

TEST(Directives, MayHaveManyWordsAndQuotes) {
  const CellText text = read("%flags -O3 \"-DNAME=a b\" '-I/my folder'");
  EXPECT_EQ(text.directives[0].arguments,
            (std::vector<std::string>{"-O3", "-DNAME=a b", "-I/my folder"}));
}

TEST(Directives, MayStandBetweenCommentsAndBlankLines) {
  const CellText text = read("// mine\n\n/* long\n  %lib no\n*/\n  %pkg eigen3\nx");
  ASSERT_EQ(text.directives.size(), 1u);
  EXPECT_EQ(text.directives[0].kind, DirectiveKind::package);
  EXPECT_EQ(text.directives[0].line, 6);
  EXPECT_EQ(tail_of(text.code), "x");
}

TEST(Directives, BehindCodeAreCode) {
  EXPECT_TRUE(read("int x = 7\n%lib;").directives.empty());
  EXPECT_EQ(read("int x = 7\n%lib;").code, "int x = 7\n%lib;");
}

TEST(Directives, ThatAreUnknownOrLackTheirArgumentAreRefusedByLine) {
  EXPECT_EQ(why("\n%matplotlib inline"),
            "line 2 of the cell: unknown directive %matplotlib; C++ cells have %inc, %lib, %pkg, "
            "%pch, %flags, %time and %timeit");
  EXPECT_EQ(why("%pkg"), "line 1 of the cell: %pkg needs an argument, e.g. %pkg eigen3");
  EXPECT_EQ(why("%time\n%timeit f()"),
            "line 2 of the cell: a cell may have only one of %time and %timeit");
}

TEST(Directives, TimeTheRestOfTheirLineAndWhatFollows) {
  const CellText text = read("%timeit -n 100 -r3 f(1)\ng();");
  ASSERT_NE(text.timing(), nullptr);
  EXPECT_EQ(text.timing()->kind, DirectiveKind::timeit);
  EXPECT_EQ(text.timing()->loops, 100);
  EXPECT_EQ(text.timing()->repeats, 3);
  EXPECT_EQ(text.code, std::string(19, ' ') + "f(1)\ng();");
}

TEST(Directives, MayComeInTheFormOfWholeCells) {
  const CellText text = read("%%time\n%lib m\nf();");
  EXPECT_EQ(text.timing()->kind, DirectiveKind::time);
  EXPECT_EQ(text.directives.size(), 2u);
}

TEST(TimedForm, LeavesDefinitionsToLaterCells) {
  const CellText text = read("%time\n#include <vector>\nauto v = f(); v");
  EXPECT_EQ(flat(forms_of(text)[0]),
            "     \n#include <vector>\n::px::cell::begin_timing(); auto v = f(); "
            "::px::cell::Shower{}, (v); ::px::cell::end_timing();");
}

TEST(TimedForm, RunsTheCellInAFunctionManyTimes) {
  const std::vector<std::string> forms = forms_of(read("%timeit f(1) // slow"));
  ASSERT_EQ(forms.size(), 2u);
  EXPECT_NE(flat(forms[0]).find("::px::cell::timeit(0, 0, [] {         ::px::cell::Keeper{}, (f(1));"
                                "// slow\n }); } px_run_"),
            std::string::npos)
      << forms[0];
  EXPECT_NE(flat(forms[1]).find("::px::cell::timeit(0, 0, [] { f(1); // slow\n }); } px_run_"),
            std::string::npos)
      << forms[1];
}

TEST(FormsOfACell, BeginWithTheOneThatShowsAValue) {
  EXPECT_EQ(forms_of(read("x")),
            (std::vector<std::string>{"/*px*/::px::cell::Shower{}, (\n#line 1\nx/*px*/);", "x;"}));
  EXPECT_EQ(forms_of(read("x;")), std::vector<std::string>{"x;"});
}

TEST(FormsOfACell, PutLambdasIntoFunctions) {
  const auto has_function = [](const std::string& code) {
    return forms_of(read(code))[0].find("void px_run_") != std::string::npos;
  };
  for (const char* code : {"f([] { return 1; })", "f([] {});", "[](int x) { return x; }(3)",
                           "{ f([] {}); }", "for (int i = 0; i < 3; ++i) { f([&] { g(i); }); }",
                           "std::sort(v.begin(), v.end(), [](int a, int b) { return a > b; });",
                           "x = [] {};", "a.b = [] {};", "v[0] = [] {};", "int x; f([] {});",
                           "std::cout << [] { return 1; }();", "f<int>([] {});"})
    EXPECT_TRUE(has_function(code)) << code;
  for (const char* code :
       {"auto f = [] {};", "std::function<int(int)> f = [](int x) { return x; };",
        "std::thread t([] {});", "std::vector<std::function<void()>> fs{[] {}};",
        "void f() { g([] {}); }", "v[0]", "int a[3];", "f(x);", "const auto& f = [] {};",
        "F* p = new F([] {});", "struct A { int x[2]; };", "delete[] p;", "using X = int[3];",
        "namespace n { auto f = [] {}; }", "template <class T> void f() { g([] {}); }",
        "auto [a, b] = f();", "// f([] {})\nx;"})
    EXPECT_FALSE(has_function(code)) << code;
}

// ---------------------------------------------------------------- names and brackets

TEST(LastDefinedName, IsThatOfAFunctionOrVariable) {
  EXPECT_EQ(last_defined_name("int a() { return 1; }\ndouble f(double x) { return x; }"), "f");
  EXPECT_EQ(last_defined_name("auto g = [](int x) { return x; };"), "g");
  EXPECT_EQ(last_defined_name("template <class T> T h(T x) { return x; }"), "h");
  EXPECT_EQ(last_defined_name("std::function<int(int)> k = f;"), "k");
  EXPECT_EQ(last_defined_name("int operator+(A a, A b) { return 1; }"), std::nullopt);
  EXPECT_EQ(last_defined_name("if (x) { }"), std::nullopt);
  EXPECT_EQ(last_defined_name(""), std::nullopt);
}

TEST(Identifiers, AreThoseOutsideOfTextAndComments) {
  EXPECT_EQ(identifiers_of("f(x, \"y\", 0x1F) // z\n+ f"), (std::vector<std::string>{"f", "x"}));
}

TEST(Completeness, AsksForMoreLinesWhereSomethingIsOpen) {
  for (const char* code : {"x", "f(1)", "int f() { return 1; }", "", "i++", "\"(\"", "'{'", "// ("})
    EXPECT_EQ(completeness(code), Completeness::complete) << code;
  for (const char* code : {"f(", "int f() {", "v[", "R\"(", "/* ", "x +", "f(1,", "#define A \\"})
    EXPECT_EQ(completeness(code), Completeness::incomplete) << code;
  for (const char* code : {")", "f(]", "}", "{ ) }"})
    EXPECT_EQ(completeness(code), Completeness::invalid) << code;
}

TEST(Mask, KeepsLengthAndLines) {
  for (const char* code : {"\"a\\\nb\"", "R\"(a\nb)\" + 1", "// a\\\nb\nc", "'", "\"\\", "R\"",
                           "1'", "#include <a> /* b\n c */ // d\ne", "\\", "u8R\"x", "/*/"}) {
    const std::string text = mask_code(code).text;
    EXPECT_EQ(text.size(), std::string(code).size()) << code;
    for (std::size_t i = 0; i < text.size(); ++i)
      EXPECT_EQ(text[i] == '\n', code[i] == '\n') << code;
  }
}

TEST(AnyText, IsReadWithoutTrouble) {
  const std::string pieces[] = {
      "{", "}",  "(",  ")",  "[",  "]",   ";",    "\"",    "'", "R\"(",     ")\"",
      "#", "\n", "//", "/*", "*/", "\\",  "if",   "x",     "=", "->",       "template",
      "<", ">",  " ",  "1'", "do", "try", "else", "%time", ":", "operator", "struct"};
  unsigned seed = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string code;
    for (unsigned i = 0; i < 12; ++i) {
      seed = seed * 1664525u + 1013904223u;
      code += pieces[(seed >> 8) % std::size(pieces)] + ((seed >> 20) % 2 ? " " : "");
    }
    if (const auto text = read_cell(code)) (void)forms_of(*text);
    (void)last_defined_name(code);
    (void)completeness(code);
  }
}

}  // namespace
}  // namespace px::cpp
