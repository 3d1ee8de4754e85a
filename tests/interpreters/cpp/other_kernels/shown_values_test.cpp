// What the values of cells look like, beside numbers, texts and containers.

#include "tests/interpreters/cpp/other_kernels/notebook.hpp"

namespace px::cpp {
namespace {

using ShownValues = Notebook;

TEST_F(ShownValues, EnumeratorsHaveTheirNames) {
  EXPECT_EQ(shown("enum Colour { red, green = 5 }; green"), "Colour::green");
  EXPECT_EQ(shown("namespace n { enum class Way { on = -1, off }; } n::Way::on"), "n::Way::on");
  EXPECT_EQ(shown("static_cast<Colour>(7)"), "Colour(7)");
  EXPECT_EQ(shown("std::vector<Colour>{red, green}"), "{Colour::red, Colour::green}");
  EXPECT_EQ(shown("enum Colour { blue }; blue"), "Colour::blue");
}

TEST_F(ShownValues, StructsHaveTheirMembers) {
  EXPECT_EQ(shown("struct Point { double x, y; }; Point{1, 2.5}"), "Point{.x = 1.0, .y = 2.5}");
  EXPECT_EQ(
      shown("struct Line { Point from, to; std::string name; }; Line{{1, 2}, {3, 4}, \"a\"}"),
      "Line{.from = Point{.x = 1.0, .y = 2.0}, .to = Point{.x = 3.0, .y = 4.0}, .name = \"a\"}");
  EXPECT_EQ(shown("std::map<std::string, Point>{{\"p\", {}}}"),
            "{\"p\": Point{.x = 0.0, .y = 0.0}}");
  EXPECT_EQ(shown("template <class T> struct Two { T a, b; }; Two<int>{1, 2}"),
            "Two<int>{.a = 1, .b = 2}");
  EXPECT_EQ(shown("std::make_tuple(Point{}, std::pair(1, std::optional<Point>()))"),
            "{Point{.x = 0.0, .y = 0.0}, {1, nullopt}}");
  EXPECT_EQ(shown("class Hidden { int x = 1; }; Hidden{}"), "<Hidden>");
  EXPECT_EQ(shown("struct Nothing {}; Nothing{}"), "<Nothing>");
  EXPECT_EQ(shown("struct Point { int z; }; Point{4}"), "Point{.z = 4}");
  EXPECT_EQ(shown("struct Bits { unsigned a : 3, b : 5; }; Bits{1, 2}"), "Bits{.a = 1, .b = 2}");
}

TEST_F(ShownValues, ATypeThatGetsItsTextLaterIsShownByIt) {
  EXPECT_EQ(shown("struct Late { int x; }; Late{1}"), "Late{.x = 1}");
  EXPECT_EQ(shown("std::vector<Late>{{1}}"), "{Late{.x = 1}}");
  run("std::ostream& operator<<(std::ostream& out, const Late& l) { return out << 'L' << l.x; }");
  EXPECT_EQ(shown("Late{2}"), "L2");
  EXPECT_EQ(shown("std::vector<Late>{{1}}"), "{L1}");
  run("std::map<std::string, std::string> mime_bundle_repr(const Late& l) {\n"
      "  return {{\"text/plain\", \"late\"}, {\"text/html\", \"<i>late</i>\"}}; }");
  EXPECT_EQ(shown("Late{2}", "text/html"), "<i>late</i>");
  EXPECT_EQ(shown("std::map<int, Late>{{3, {}}}"), "{3: late}");
}

TEST_F(ShownValues, TextOfEachEncodingIsText) {
  EXPECT_EQ(shown("u8\"gr\u00fc\u00df\""), "\"gr\u00fc\u00df\"");
  EXPECT_EQ(shown("std::u16string s = u\"gr\\u00fc\\u00df\"; s"), "\"gr\u00fc\u00df\"");
  EXPECT_EQ(shown("L\"wide\""), "\"wide\"");
  EXPECT_EQ(shown("const char32_t* p = U\"far\"; p"), "\"far\"");
}

TEST_F(ShownValues, IntegersOf128BitsAreNumbers) {
  EXPECT_EQ(shown("__int128 big = __int128(1) << 100; big"), "1267650600228229401496703205376");
  EXPECT_EQ(shown("std::vector<unsigned __int128>{1, 2}"), "{1, 2}");
  EXPECT_EQ(shown("struct Wide { __int128 a; }; Wide{-5}"), "Wide{.a = -5}");
}

TEST_F(ShownValues, TypesHaveTheNamesThatProgramsGiveThem) {
  EXPECT_EQ(shown("std::any(std::vector<std::string>())"),
            "<std::any of std::vector<std::string>>");
  EXPECT_EQ(shown("typeid(std::map<std::string, int>)"), "std::map<std::string, int>");
}

std::string displayed(const std::vector<std::pair<std::string, Json>>& messages) {
  std::string text;
  for (const auto& [type, content] : messages)
    if (type.ends_with("display_data")) text += content["data"].value("text/plain", "") + ";";
  return text;
}

TEST_F(ShownValues, ATypeThatGetsItsTextLaterIsDisplayedByIt) {
  run("#include \"xcpp/xdisplay.hpp\"\nstruct Tardy { int x; };");
  const std::string cell =
      "px::display(Tardy{1}); ::px::display(Tardy{2}, \"id\"); xcpp::display(Tardy{3});";
  run(cell);
  EXPECT_EQ(displayed(heard_->messages), "Tardy{.x = 1};Tardy{.x = 2};Tardy{.x = 3};");
  run("std::ostream& operator<<(std::ostream& out, const Tardy& t) { return out << 'T' << t.x; }");
  run(cell);
  EXPECT_EQ(displayed(heard_->messages), "T1;T2;T3;");
  run("std::vector<Tardy> all{{4}};\nfor (const Tardy& each : all) px::display(each);");
  EXPECT_EQ(displayed(heard_->messages), "T4;");
  run("using px::display;\ndisplay(5); std::string text = \"px::display(1)\";");
  EXPECT_EQ(displayed(heard_->messages), "5;");
  EXPECT_EQ(shown("text"), "\"px::display(1)\"");
  const std::string mistake = why("px::display(Tardy{1}); missing;");
  EXPECT_NE(mistake.find("line 1, column 24"), mistake.npos) << mistake;
}

TEST_F(ShownValues, ATypeThatAHeaderGivesItsTextIsShownByIt) {
  EXPECT_EQ(shown("namespace late { struct Part { int x; }; } late::Part{1}"),
            "late::Part{.x = 1}");
  const auto header = std::filesystem::path(testing::TempDir()) / "px_printed_part.hpp";
  std::ofstream(header)
      << "namespace late { inline std::ostream& operator<<(std::ostream& out, const Part& p) {"
         " return out << 'P' << p.x; } }\n";
  run("#include \"" + header.string() + "\"\n");
  EXPECT_EQ(shown("late::Part{2}"), "P2");
  std::filesystem::remove(header);
}

TEST_F(ShownValues, FunctionsThatOnlyTheCompilerCallsHaveValues) {
  run("consteval int doubled(int x) { return 2 * x; }");
  EXPECT_EQ(shown("doubled(21)"), "42");
  EXPECT_EQ(shown("int kept = 0; kept = doubled(4);\nkept"), "8");
  EXPECT_EQ(shown("template <int n> struct Of { enum { value = n }; }; Of<7>::value"), "7");
  const std::string missing = why("int gone(int); gone(doubled(1))");
  EXPECT_NE(missing.find("undefined: gone(int)"), missing.npos) << missing;
}

TEST_F(ShownValues, PointersOfTheLibraryShowWhatTheyPointTo) {
  const auto behind_address = [&](const std::string& code) {
    const std::string text = shown(code);
    EXPECT_EQ(text.substr(0, 2), "0x") << text;
    return text.substr(text.find(' ') + 1);
  };
  EXPECT_EQ(behind_address("std::make_unique<int>(3)"), "-> 3");
  EXPECT_EQ(behind_address("std::make_shared<std::string>(\"a\")"), "-> \"a\"");
  EXPECT_EQ(behind_address("auto kept = std::make_shared<int>(4); std::weak_ptr<int>(kept)"),
            "-> 4");
  EXPECT_EQ(shown("std::weak_ptr<int>()"), "expired");
  EXPECT_EQ(shown("std::unique_ptr<int>()"), "nullptr");
  EXPECT_EQ(shown("struct Unknown; std::shared_ptr<Unknown>()"), "nullptr");
  const std::string ring = shown(
      "struct Node { int x; std::shared_ptr<Node> next; };\n"
      "auto first = std::make_shared<Node>(); first->next = first;\n"
      "first");
  EXPECT_NE(ring.find("..."), std::string::npos);
  EXPECT_LT(ring.size(), 1000u);
}

TEST_F(ShownValues, RangesAndDirectoriesAreLists) {
  EXPECT_EQ(shown("std::views::iota(1) | std::views::take(3)"), "{1, 2, 3}");
  const std::string endless = shown("std::views::iota(1)");
  EXPECT_EQ(endless.substr(endless.size() - 9), "100, ...}");
  std::ofstream(folder_ / "one.txt") << "x";
  EXPECT_EQ(shown("std::filesystem::directory_iterator(\"" + folder_.string() + "\")"),
            "{\"" + (folder_ / "one.txt").string() + "\"}");
  EXPECT_EQ(shown("std::stack<int>(std::deque<int>{1, 2})"), "{1, 2}");
  EXPECT_EQ(shown("std::queue<std::string>(std::deque<std::string>{\"a\"})"), "{\"a\"}");
  const std::string large =
      shown("std::set<int> s; for (int i = 0; i < 1000; ++i) s.insert(i);\ns");
  EXPECT_EQ(large.substr(large.size() - 26), "98, 99, ... (1000 values)}");
}

TEST_F(ShownValues, WhatIsOfAnyTypeIsShown) {
  EXPECT_EQ(shown("std::any(3)"), "3");
  EXPECT_EQ(shown("std::any(std::string(\"a\"))"), "\"a\"");
  EXPECT_EQ(shown("std::any()"), "<empty std::any>");
  EXPECT_EQ(shown("std::any(std::vector<int>{1})"), "<std::any of std::vector<int>>");
  EXPECT_EQ(shown("std::variant<int, std::string>(\"a\")"), "\"a\"");
  EXPECT_EQ(shown("std::type_index(typeid(double))"), "double");
}

TEST_F(ShownValues, DatesAndTimesAreReadable) {
  EXPECT_EQ(shown("using namespace std::chrono; year(2026) / 2 / 3"), "2026-02-03");
  EXPECT_EQ(shown("weekday(sys_days(year(2026) / 2 / 3))"), "Tue");
  EXPECT_EQ(shown("month(2)"), "Feb");
  EXPECT_EQ(shown("month(13)").substr(0, 6), "<wrong");
  EXPECT_EQ(shown("hh_mm_ss(seconds(3723))"), "01:02:03");
  EXPECT_EQ(shown("milliseconds(10)"), "10ms");
  EXPECT_EQ(shown("sys_days(year(1970) / 1 / 2)"), "1970-01-02 00:00:00 UTC");
  EXPECT_EQ(shown("std::filesystem::last_write_time(\"" + folder_.string() + "\")").substr(0, 2),
            "20");
}

constexpr const char* eigen_like = R"(namespace fake {
struct Matrix {
  long r, c; std::vector<double> v;
  long rows() const { return r; }
  long cols() const { return c; }
  double operator()(long i, long j) const { return v[i * c + j]; }
  const Matrix& eval() const { return *this; }
};
struct Sum {  // knows its elements only when it is evaluated
  const Matrix& a;
  long rows() const { return a.r; }
  long cols() const { return a.c; }
  Matrix eval() const { return a; }
};
std::ostream& operator<<(std::ostream& out, const Matrix&) { return out << "endless"; }
struct Tensor {
  std::vector<std::size_t> s;
  std::size_t dimension() const { return s.size(); }
  const std::vector<std::size_t>& shape() const { return s; }
  int operator()(std::size_t i, std::size_t j) const { return int(10 * i + j); }
  std::vector<int> flat{7};
  auto begin() const { return flat.begin(); }
  auto end() const { return flat.end(); }
};
struct Span {
  using mapping_type = int;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t i) const { return 2 + i; }
  int operator[](std::array<std::size_t, 2> at) const { return int(at[0] * 3 + at[1]); }
};
}  // namespace fake
)";

TEST_F(ShownValues, MatricesOfLibrariesAreTables) {
  run(eigen_like);
  const std::string cell = "fake::Matrix m{2, 2, {1, -2.5, 10, 3}}; ";
  EXPECT_EQ(shown(cell + "m"), " 1.0  -2.5\n10.0   3.0");
  EXPECT_EQ(shown("fake::Sum{m}"), " 1.0  -2.5\n10.0   3.0");
  EXPECT_EQ(shown("m", "text/html"),
            "<table><tr><td style=\"text-align:right\">1.0</td><td style=\"text-align:right\">-2.5"
            "</td></tr><tr><td style=\"text-align:right\">10.0</td><td "
            "style=\"text-align:right\">3.0</td></tr></table>");
  EXPECT_EQ(shown("fake::Tensor{{2, 2}}"), " 0   1\n10  11");
  EXPECT_EQ(shown("fake::Tensor{{2, 2, 2}}"), "{7}");
  EXPECT_EQ(shown("fake::Span{}"), "0  1  2\n3  4  5");
  const std::string large = shown("fake::Matrix{100, 200, std::vector<double>(20000)}");
  EXPECT_EQ(large.substr(large.size() - 15), "...\n(100 x 200)");
  EXPECT_LT(large.size(), 5000u);
  EXPECT_EQ(shown("fake::Matrix{0, 3, {}}"), "(0 x 3)");
}

TEST_F(ShownValues, ClassesWithRowsAndColumnsAreTablesUnlessTheySayMore) {
  run("struct Own { int rows() const { return 1; } int cols() const { return 2; }\n"
      "int operator()(int, int j) const { return j; } };");
  EXPECT_EQ(shown("Own{}"), "0  1");
  run("std::ostream& operator<<(std::ostream& out, const Own&) { return out << \"own\"; }");
  EXPECT_EQ(shown("Own{}"), "own");
}

TEST_F(ShownValues, TheHeadersOfTheStandardLibraryAreThere) {
  for (const char* const code :
       {"std::barrier b(2);", "std::latch l(2);", "std::counting_semaphore<3> c(1);",
        "std::source_location::current().line()", "std::osyncstream(std::cout) << 1;",
        "std::pmr::vector<int> p;", "std::stop_token t;", "std::suspend_never n;",
        "std::deque<int> d; std::any a; std::bitset<3> bits; std::mt19937 r;",
        "std::wcslen(L\"a\")", "std::signal(SIGUSR2, SIG_IGN);", "std::numbers::pi",
        "std::uintmax_t u = std::strtoumax(\"3\", nullptr, 10);", "std::locale()"})
    EXPECT_EQ(run(code)["status"], "ok") << code;
}

}  // namespace
}  // namespace px::cpp
