// The usual mistakes of people who learn C++, and what the answer must say.
#include <gtest/gtest.h>

#include <utility>

#include <mutex>

#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "interpreters/cpp/run/cpp_interpreter.hpp"

namespace px::cpp {
namespace {

/// Keeps what is printed.
class PrintedOutput final : public interpreters::Output {
 public:
  void write(std::string_view, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    text_ += text;
  }
  void publish(std::string_view, std::string, std::string, std::vector<SharedBytes>) override {}
  std::string take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(text_, {});
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

struct Mistake {
  const char* code;
  const char* place;  ///< "line 1, column 3"
  const char* says;   ///< A part of the error's value.
};
void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.code;
}

class MistakesOfStudents : public testing::TestWithParam<Mistake> {
 protected:
  static void SetUpTestSuite() {
    if (interpreter_) return;
    output_ = new PrintedOutput;
    auto created = CppInterpreter::create(*output_);
    ASSERT_TRUE(created) << created.error().what;
    interpreter_ = created->release();
    execute(
        "struct Point { double x = 0, y = 0; private: int secret = 1; };\n"
        "struct Shape { virtual double area() const = 0; virtual ~Shape() = default; };\n"
        "Point point; Point* pointer = &point; const int fixed = 3; std::vector<int> numbers{1, "
        "2};\n"
        "std::list<int> chain{3, 1}; double half(double x) { return x / 2; } int counter = 0;");
  }
  static void TearDownTestSuite() {
    delete std::exchange(interpreter_, nullptr);
    delete std::exchange(output_, nullptr);
  }
  static Json execute(const std::string& code) {
    interpreters::Execution execution;
    execution.code = code;
    execution.count = 7;
    return interpreter_->execute(execution);
  }
  static std::string whole(const Json& reply) {
    std::string text = reply.value("ename", "") + ": " + reply.value("evalue", "");
    for (const Json& line : reply.value("traceback", Json::array()))
      text += "\n" + without_colours(line.get<std::string>());
    return text;
  }
  static void expect_no_internals(const std::string& text) {
    for (const char* internal : {"px::", "px_", "input_line", "prelude.hpp", "#line"})
      EXPECT_EQ(text.find(internal), text.npos) << internal << "\n" << text;
  }
  static inline PrintedOutput* output_ = nullptr;
  static inline CppInterpreter* interpreter_ = nullptr;
};

TEST_P(MistakesOfStudents, AreAnsweredWithTheirPlaceAndInPlainWords) {
  const Json reply = execute(GetParam().code);
  const std::string value = reply.value("evalue", "no error");
  const std::string place = std::string("cell 7, ") + GetParam().place;
  EXPECT_EQ(value.substr(0, place.size()), place) << whole(reply);
  EXPECT_NE(value.find(GetParam().says), value.npos) << whole(reply);
  expect_no_internals(whole(reply));
}

INSTANTIATE_TEST_SUITE_P(
    Brackets, MistakesOfStudents,
    testing::Values(
        Mistake{"int a = 1\nint b = 2;", "line 1, column 10",
                "end the statement in line 1 with `;`"},
        Mistake{"std::cout << 1\nstd::cout << 2;", "line 1",
                "end the statement in line 1 with `;`"},
        Mistake{"int f() {\n  int x = 1\n  return x;\n}", "line 2, column 12",
                "end the statement in line 2 with `;`"},
        Mistake{"struct A { int x; }\nint y;", "line 1", "end the statement in line 1 with `;`"},
        Mistake{"int f() {\n  return 1;", "line 1, column 9", "this '{' is never closed"},
        Mistake{"int f() { return 1; }}", "line 1, column 22", "extraneous closing brace"},
        Mistake{"half(2;", "line 1", "expected ')'"},
        // clang looks for the end of these for ever
        Mistake{"struct Y { using type = int };\nint z;", "line 1, column 28",
                "end the statement in line 1 with `;`"},
        Mistake{"void (*test)() = [] { if };", "line 1, column 26",
                "C++ has conditions in parentheses"},
        Mistake{"std::string s = \"text;", "line 1, column 17", "expected expression"},
        Mistake{"for (int i = 0, i < 3, i++) {}", "line 1, column 17", "redefinition of 'i'"},
        Mistake{"int n = numbers[0;", "line 1", "expected ']'"}));

INSTANTIATE_TEST_SUITE_P(
    Names, MistakesOfStudents,
    testing::Values(
        Mistake{"int a = 1;\nint b = a + c;", "line 2, column 13", "undeclared identifier 'c'"},
        Mistake{"  coutner = 1;", "line 1, column 3", "did you mean 'counter'?"},
        Mistake{"std::vectr<int> v;", "line 1, column 6", "did you mean 'vector'?"},
        Mistake{"vector<int> v;", "line 1, column 1", "std::vector"},
        Mistake{"namespace a { int b; }\nnamespace c { int b; }\nusing namespace a;\n"
                "using namespace c;\nb = 1;",
                "line 5, column 1", "write `::b`, or give it another name"},
        Mistake{"cout << 1;", "line 1, column 1", "std::cout"},
        Mistake{"string s;", "line 1, column 1", "std::string"},
        Mistake{"sort(numbers.begin());", "line 1", "no matching function"},
        Mistake{"total = 5;", "line 1, column 1", "declare it with a type: `auto total = ...;`"},
        Mistake{"print(\"hello\")", "line 1, column 1", "`std::cout << x << std::endl;`"},
        Mistake{"len(numbers)", "line 1, column 1", "`.size()`"},
        Mistake{"bool b = True;", "line 1, column 10", "C++ writes `true`"},
        Mistake{"int* p = None;", "line 1, column 10", "C++ writes `nullptr`"},
        Mistake{"int* p = null;", "line 1, column 10", "C++ writes `nullptr`"},
        Mistake{"def f(x):\n    return x", "line 1, column 1", "this is a C++ cell"},
        Mistake{"import numpy as np", "line 1, column 13", "this is a C++ cell"},
        Mistake{"String s = \"a\";", "line 1, column 1", "std::string"},
        Mistake{"numbers.lenght()", "line 1, column 9", "no member named 'lenght'"},
        Mistake{"point.secret", "line 1, column 7", "private member"},
        Mistake{"pointer.x", "line 1, column 8", "did you mean to use '->'"},
        Mistake{"point->x", "line 1, column 6", "did you mean to use '.'"}));

INSTANTIATE_TEST_SUITE_P(
    HeadersAndLibraries, MistakesOfStudents,
    testing::Values(
        Mistake{"#include <vectr>\n", "line 1, column 10", "did you mean `#include <vector>`?"},
        Mistake{"#include <Eigen/Absent>\n", "line 1, column 10", "`%pkg eigen3`"},
        Mistake{"#include <iostream.h>\n", "line 1, column 10", "`#include <iostream>`"},
        Mistake{"#include \"absent_of_mine.hpp\"\n", "line 1, column 10", "`%inc folder`"},
        Mistake{"int n = omp_get_max_threads();", "line 1, column 9", "`%flags -fopenmp`"}));

INSTANTIATE_TEST_SUITE_P(
    Types, MistakesOfStudents,
    testing::Values(
        Mistake{"int x = \"text\";", "line 1, column 5",
                "cannot initialize a variable of type 'int'"},
        Mistake{"half(1, 2)", "line 1, column 1", "no matching function for call to 'half'"},
        Mistake{"half(\"2\")", "line 1, column 1", "no matching function for call to 'half'"},
        Mistake{"fixed = 4;", "line 1, column 7", "const-qualified"},
        Mistake{"int r = point;", "line 1, column 5", "no viable conversion from 'Point' to 'int'"},
        Mistake{"std::cout << point;", "line 1, column 11", "operator<<"},
        Mistake{"auto s = \"a\" + \"b\";", "line 1, column 14", "invalid operands"},
        Mistake{"Shape shape;", "line 1, column 7", "abstract class"},
        Mistake{"std::vector v;", "line 1, column 13", "name the type of the elements"},
        Mistake{"int a[2] = {1, 2, 3};", "line 1, column 19", "excess elements"},
        Mistake{"auto x;", "line 1, column 6", "requires an initializer"},
        Mistake{"average(double a, double b) { return (a + b) / 2; }", "line 1, column 16",
                "write the type of the function's result before 'average'"},
        Mistake{"mean(const std::vector<double>& v) {\n  return v.at(0);\n}", "line 1, column ",
                "write the type of the function's result before 'mean'"},
        Mistake{"greet() { std::cout << 1; }", "line 1, column ",
                "write the type of the function's result before 'greet'"},
        Mistake{"twice(int n)\n{\n  return 2 * n;\n}", "line 1, column ",
                "write the type of the function's result before 'twice'"},
        Mistake{"int twin = 1;\ndouble twin = 2;", "line 2, column 8", "redefinition of 'twin'"},
        Mistake{"int f() {\n  int n = 1;\n  auto g = [] { return n; };\n  return g();\n}", "line 3",
                "`[&]` refers to all"},
        Mistake{"int y = 0;\nstd::sort(chain.begin(), chain.end());", "line 2, column 6",
                "invalid operands"},
        Mistake{"std::map<Point, int> m;\nm[point] = 1;", "line 2", "invalid operands"},
        Mistake{"struct B : Shape { double area() override { return 1; } };", "line 1", "override"},
        Mistake{"static_assert(sizeof(int) == 3, \"no\");", "line 1, column 15",
                "static assertion"}));

INSTANTIATE_TEST_SUITE_P(
    Statements, MistakesOfStudents,
    testing::Values(
        Mistake{"return 5;", "line 1, column 1", "'return' is outside of a function"},
        Mistake{"int k = 1;\nif (k) {\n  return k;\n}", "line 3, column 3",
                "'return' is outside of a function"},
        Mistake{"int q = 0;\nnumbers.push_back([] { return 1; }()); return 5;", "line 2, column 40",
                "'return' is outside of a function"},
        Mistake{"goto end;\nend: counter = 1;", "line 1, column 1",
                "'goto' is outside of a function"},
        Mistake{"again: counter++;", "line 1, column 1", "the label 'again' is outside"},
        Mistake{"break;", "line 1, column 1", "'break' is outside of a loop or switch"},
        Mistake{"if (counter) break;", "line 1, column 14",
                "'break' statement not in loop or switch"},
        Mistake{"continue;", "line 1, column 1", "'continue' is outside of a loop"},
        Mistake{"case 1: counter = 2;", "line 1, column 1", "'case' is outside of a switch"},
        Mistake{"else counter = 1;", "line 1, column 1", "'else' has no 'if' before it"},
        Mistake{"if counter > 1 { counter = 0; }", "line 1, column 4",
                "C++ has conditions in parentheses"},
        Mistake{"std::cout << \xe2\x80\x9chello\xe2\x80\x9d;", "line 1, column 14",
                "replace typographic quotes"},
        Mistake{"int d = 5 \xe2\x88\x92 3;", "line 1, column 11", "looks like another one"},
        Mistake{"for (int x in numbers) {}", "line 1", "expected"},
        Mistake{"numbers.push_back(1); std::for_each(numbers.begin(), numbers.end(), [](int n) { "
                "missing(n); });",
                "line 1, column 81", "undeclared identifier 'missing'"},
        Mistake{"auto f = [counter](int n) { return counter + n + gone; };", "line 1, column 50",
                "undeclared identifier 'gone'"}));

TEST_F(MistakesOfStudents, OfLinkingNameTheLibrary) {
  const Json reply = execute(
      "extern \"C\" double cblas_ddot(int, const double*, int, const double*, "
      "int);\ndouble dot = cblas_ddot(0, nullptr, 1, nullptr, 1);");
  EXPECT_EQ(reply["ename"], "LinkError");
  EXPECT_NE(whole(reply).find("%lib openblas"), std::string::npos) << whole(reply);
  const Json member = execute("struct Engine { virtual void run(); };\nEngine machine;");
  EXPECT_NE(whole(member).find("give it a body"), std::string::npos) << whole(member);
}

TEST_F(MistakesOfStudents, OfPragmasAreWarnings) {
  output_->take();
  const Json reply = execute("#pragma omp parallel for\nfor (int i = 0; i < 3; ++i) counter = i;");
  EXPECT_EQ(reply["status"], "ok");
  EXPECT_NE(output_->take().find("OpenMP needs `%flags -fopenmp` in the first cell"),
            std::string::npos);
}

TEST_F(MistakesOfStudents, InWarningsShowTheCodeAsItWasWritten) {
  output_->take();
  EXPECT_EQ(execute("int w = 1;\nif (w = 2) counter = 1;\n  w == 1")["status"], "ok");
  const std::string printed = output_->take();
  EXPECT_NE(printed.find("cell 7, line 2, column 7: warning:"), std::string::npos) << printed;
  expect_no_internals(printed);
}

}  // namespace
}  // namespace px::cpp
