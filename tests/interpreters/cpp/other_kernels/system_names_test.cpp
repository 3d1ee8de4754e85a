// Cells that define what headers of the system have declared.

#include "tests/interpreters/cpp/other_kernels/notebook.hpp"

namespace px::cpp {
namespace {

using SystemNames = Notebook;

constexpr const char* names[] = {
    "y0",     "y1",     "yn",       "j1",     "index",  "rindex", "time",    "clock",
    "gamma",  "signal", "random",   "rand",   "div",    "abs",    "log",     "exp",
    "pow",    "round",  "remove",   "rename", "link",   "pipe",   "wait",    "sleep",
    "kill",   "bind",   "send",     "stat",   "system", "exit",   "read",    "write",
    "select", "pause",  "basename", "daemon", "access", "raise",  "timezone"};

TEST_F(SystemNames, AreVariablesOfTheCells) {
  int number = 0;
  for (const std::string name : names) {
    const std::string value = std::to_string(++number);
    EXPECT_EQ(shown("int " + name + " = " + value + ";\n" + name), value);
    EXPECT_EQ(shown("++" + name), std::to_string(number + 1)) << name;
    EXPECT_EQ(shown("double " + name + " = 0.5; ::" + name), "0.5");
  }
  EXPECT_EQ(shown("std::time(nullptr) > 1000 && std::clock() >= 0 && std::abs(-3) == 3"), "true");
  EXPECT_EQ(shown("std::log(1.0) + std::exp(0.0) + std::pow(2.0, 3) + std::round(0.6)"), "10.0");
  EXPECT_EQ(shown("std::this_thread::sleep_for(std::chrono::milliseconds(1)); std::raise(SIGCONT)"),
            "0");
  EXPECT_EQ(shown("std::random_device{}() >= 0u"), "true");
  EXPECT_EQ(shown("std::ofstream(\"/dev/null\") << 1 << std::endl; std::rand() >= 0"), "true");
}

TEST_F(SystemNames, AreFunctionsOfTheCells) {
  run("int y0(double x) { return int(x) + 1; }");
  EXPECT_EQ(shown("y0(2.0)"), "3");
  run("double y0(double x) { return x + 0.5; }");
  EXPECT_EQ(shown("y0(2.0)"), "2.5");
  EXPECT_EQ(shown("double gamma(double x) { return 2 * x; } gamma(3)"), "6.0");
  EXPECT_EQ(shown("double gamma(double x) { return 3 * x; } gamma(3)"), "9.0");
  EXPECT_EQ(shown("int random() { return 4; } random()"), "4");
  EXPECT_EQ(shown("unsigned sleep(unsigned n) { return n + 1; } sleep(5)"), "6");
  EXPECT_EQ(shown("unsigned sleep(unsigned n) { return n + 2; } sleep(5)"), "7");
  run("std::string index(std::string s, int n) { return s.substr(n); }");
  EXPECT_EQ(shown("index(std::string(\"ab\"), 1)"), "\"b\"");
}

TEST_F(SystemNames, AreTypesOfTheCells) {
  EXPECT_EQ(shown("struct lgamma { int a = 1; }; lgamma g; g"), "lgamma{.a = 1}");
  EXPECT_EQ(shown("enum class erf { low, high }; erf::high"), "erf::high");
  EXPECT_EQ(shown("struct timespec { int mine = 4; }; timespec{}"), "timespec{.mine = 4}");
  EXPECT_EQ(shown("using tgamma = double; tgamma t = 2; t"), "2.0");
  EXPECT_EQ(shown("std::this_thread::sleep_for(std::chrono::milliseconds(1)); 1"), "1");
}

TEST_F(SystemNames, AreThoseOfTheSystemUntilACellDefinesThem) {
  EXPECT_EQ(shown("cbrt(1.0)"), "1.0");
  EXPECT_NE(why("int cbrt = undeclared_name;").find("undeclared_name"), std::string::npos);
  EXPECT_EQ(shown("cbrt(1.0)"), "1.0");
  run("double cube(double x) { return cbrt(x); }");
  EXPECT_EQ(shown("{ int cbrt = 2; } auto of = [](double cbrt) { return cbrt; }; cbrt(1.0)"),
            "1.0");
  EXPECT_EQ(shown("int cbrt = 5; cbrt"), "5");
  EXPECT_EQ(shown("cube(1) + std::cbrt(1)"), "2.0");
  EXPECT_NE(why("cbrt(8.0)").find("is not a function"), std::string::npos);
  EXPECT_NE(why("using namespace std; double expm1 = 1; expm1").find("write `::expm1`"),
            std::string::npos);
}

}  // namespace
}  // namespace px::cpp
