#include <gtest/gtest.h>
#include <signal.h>
#include <sys/time.h>

#include <chrono>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;
using namespace std::chrono_literals;

/// Interrupts every 20 ms from start() on, until it goes.
class Alarm {
 public:
  Alarm() {
    CppSession::handle_interrupts();
    ::signal(SIGALRM, [](int) { CppSession::interrupt(); });
  }
  ~Alarm() {
    set_interval(0us);
    CppSession::forget_interrupts();
  }
  static void start() { set_interval(20ms); }
  static void start_late() { set_interval(900ms); }
  static void set_interval(std::chrono::microseconds interval) {
    const timeval time{0, interval.count()};
    const itimerval timer{time, time};
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
};

class BrokenCells : public NotebookTest {
 protected:
  void expect_session_holds() {
    runs("int after = 20; double twice(double n) { return 2 * n; }");
    EXPECT_EQ(value("twice(after) + before"), 41);
    const CellOutcome outcome = fails("throw 1.5f;", Kind::exception);
    EXPECT_EQ(outcome.error_name, "float");
  }
  void SetUp() override {
    runs("int before = 1;");
    // Cells start the alarm themselves, so that it rings while they run.
    runs("auto* const start_alarm = reinterpret_cast<void (*)()>(" +
         std::to_string(reinterpret_cast<std::uintptr_t>(&Alarm::start)) + "ul);" +
         "auto* const start_late_alarm = reinterpret_cast<void (*)()>(" +
         std::to_string(reinterpret_cast<std::uintptr_t>(&Alarm::start_late)) + "ul);");
  }
};

TEST_F(BrokenCells, NameTheTypeAndTextOfAnException) {
  runs(
      "#include <stdexcept>\n#include <string>\n#include <vector>\n"
      "struct Wrong : std::runtime_error { using runtime_error::runtime_error; };");
  CellOutcome outcome = fails("throw Wrong(\"too long\");", Kind::exception);
  EXPECT_EQ(outcome.error_name, "Wrong");
  EXPECT_EQ(outcome.error_value, "too long");
  outcome = fails("std::string().at(5);", Kind::exception);
  EXPECT_EQ(outcome.error_name, "std::out_of_range");
  outcome = fails("throw std::string(\"text\");", Kind::exception);
  EXPECT_EQ(outcome.error_name, "std::string");
  EXPECT_EQ(outcome.error_value, "text");
  outcome = fails("throw std::vector<std::string>{\"a\"};", Kind::exception);
  EXPECT_EQ(outcome.error_name, "std::vector<std::string>");
  outcome = fails("struct Odd {}; throw Odd();", Kind::exception);
  EXPECT_EQ(outcome.error_name, "Odd");
  expect_session_holds();
}

TEST_F(BrokenCells, OverflowTheStackAtOnceWhereARecursionIsEndless) {
  runs("#include <functional>");
  for (const std::string code :
       {"int sum(int n) { return n + sum(n - 1); } $ before = sum(5);",
        "void again() { again(); } $ again();",
        "int factorial(int n) { return n == 0 ? 1 : n * factorial(n - 1); }"
        " $ before = factorial(-1);",
        "int odd(int n); int even(int n) { return odd(n + 1); } int odd(int n) { return even(n); }"
        " $ before = even(1);",
        "std::function<int(int)> f = [](int n) { return f(n); }; $ before = f(1);"}) {
    Alarm alarm;  // else it would go on for ever where it is a loop
    std::string cell = code;
    cell.replace(cell.find('$'), 1, "start_late_alarm();");
    const CellOutcome outcome = fails(cell, Kind::crashed);
    EXPECT_TRUE(outcome.error_value.starts_with("Stack overflow")) << code << outcome.error_value;
  }
  runs("before = 1;");
  expect_session_holds();
}

/// "cell 4, line 2 < cell 5, line 1": the innermost first.
std::string lines_in(const CellOutcome& outcome) {
  std::string text;
  for (const CellLine& line : outcome.lines)
    text += (text.empty() ? "" : " < ") + line.cell + ", line " + std::to_string(line.line);
  return text;
}

TEST_F(BrokenCells, NameTheLinesThatAnExceptionPassed) {
  runs("#include <stdexcept>\n#include <string>\n#include <vector>");  // cell 3
  // The throw that left the cell, not one that it caught.
  CellOutcome outcome = fails(
      "int n = 0;\ntry { throw 1; } catch (int) {}\n++n;\n\nthrow std::logic_error(\"bad\");\n",
      Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 4, line 5");
  // A throw in the library that the cell calls, inlined or not.
  outcome = fails("std::string text;\ntext.at(5);", Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 5, line 2");
  // Functions of this and of earlier cells.
  runs(
      "__attribute__((noinline)) int look(const std::vector<int>& v) {\n"
      "  return v.at(7);\n}");
  outcome =
      fails("int twice(int n) {\n  return n + look({1, 2});\n}\n\nn = twice(2);", Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 6, line 2 < cell 7, line 2 < cell 7, line 5");
  outcome = fails("for (int i = 0; i < 3; ++i) {\n  if (i == 2)\n    throw i;\n}", Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 8, line 3");
  outcome = fails("n = 1;\n[] {\n  throw 5;\n}();", Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 9, line 3 < cell 9, line 2");
  outcome = fails("int broken = look({});", Kind::exception);
  EXPECT_EQ(lines_in(outcome), "cell 6, line 2 < cell 10, line 1");
  outcome = fails("n = 2;\nlook({});", Kind::exception);  // no tail call
  EXPECT_EQ(lines_in(outcome), "cell 6, line 2 < cell 11, line 2");
  outcome = fails("int broken = ;", Kind::compile_error);
  EXPECT_EQ(lines_in(outcome), "");
}

TEST_F(BrokenCells, NameTheLineThatAnInterruptHit) {
  Alarm alarm;
  const CellOutcome outcome =
      fails("volatile long steps = 0;\nstart_alarm();\nfor (;;)\n  steps = steps + 1;",
            Kind::interrupted);
  ASSERT_EQ(outcome.lines.size(), 1u) << said(outcome);
  EXPECT_GE(outcome.lines[0].line, 3);
}

TEST_F(BrokenCells, RunUpToTheThrowAndKeepWhatWasBefore) {
  fails("int x = 5; throw 1; int y = 6;", Kind::exception);
  EXPECT_EQ(value("x"), 5);
}

TEST_F(BrokenCells, LeaveAVariableWhoseInitializerThrewToBeDefinedAgain) {
  runs("int fail() { throw 3; }");
  fails("int x = fail();", Kind::exception);
  runs("int x = 4;");
  EXPECT_EQ(value("x"), 4);
  expect_session_holds();
}

TEST_F(BrokenCells, RunDestructorsWhenTheyThrow) {
  runs("int gone = 0; struct Guard { ~Guard() { ++gone; } };");
  fails("{ Guard g; throw 1; }", Kind::exception);
  EXPECT_EQ(value("gone"), 1);
}

TEST_F(BrokenCells, SurviveANullPointer) {
  const CellOutcome outcome = fails("{ volatile int* p = nullptr; *p = 1; }", Kind::crashed);
  EXPECT_EQ(outcome.error_name, "Crashed");
  EXPECT_NE(outcome.error_value.find("SIGSEGV"), std::string::npos);
  EXPECT_NE(outcome.error_value.find("may be damaged"), std::string::npos);
  expect_session_holds();
}

TEST_F(BrokenCells, NameTheLinesThatLedToACrash) {
  runs("void write_to(int* place) {\n  *const_cast<volatile int*>(place) = 1;\n}");
  const CellOutcome outcome = fails("int* nowhere = nullptr;\nwrite_to(nowhere);", Kind::crashed);
  ASSERT_EQ(outcome.lines.size(), 2u);
  EXPECT_FALSE(outcome.lines[0].is_of_this_cell);
  EXPECT_TRUE(outcome.lines[1].is_of_this_cell);
  EXPECT_EQ(outcome.lines[0].line, 2);
  EXPECT_EQ(outcome.lines[1].line, 2);
}

TEST_F(BrokenCells, SurviveADivisionByZero) {
  const CellOutcome outcome =
      fails("{ volatile int zero = 0; px_reported = 100 / zero; }", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("SIGFPE"), std::string::npos);
  expect_session_holds();
}

TEST_F(BrokenCells, SurviveAStackOverflow) {
  runs(
      "int deep(volatile int n) { volatile char pad[512]; pad[0] = 1; return deep(n + 1) + pad[0]; "
      "}");
  const CellOutcome outcome = fails("px_reported = deep(0);", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("Stack overflow"), std::string::npos) << said(outcome);
  expect_session_holds();
}

TEST_F(BrokenCells, SurviveCrashAfterCrash) {
  for (int i = 0; i < 20; ++i) {
    fails("{ volatile int* p = nullptr; *p = 1; }", Kind::crashed);
    EXPECT_EQ(value("before"), 1);
  }
  expect_session_holds();
}

TEST_F(BrokenCells, SurviveAbortAndExit) {
  CellOutcome outcome = fails("extern \"C\" void abort(); abort();", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("SIGABRT"), std::string::npos);
  outcome = fails("extern \"C\" void exit(int) noexcept; exit(3);", Kind::crashed);
  EXPECT_EQ(outcome.error_name, "Exited");
  EXPECT_NE(outcome.error_value.find("exit(3)"), std::string::npos);
  outcome = fails("void never() noexcept { throw 1; } never();", Kind::crashed);
  EXPECT_NE(outcome.error_value.find("std::terminate"), std::string::npos);
  expect_session_holds();
}

TEST_F(BrokenCells, StopAtAnInterruptWhenTheyLoop) {
  for (const char* code : {"for (;;) {}", "while (true) { ++before; }",
                           "{ volatile long n = 0; while (n >= 0) n = n + 1; }"}) {
    const Alarm alarm;
    const CellOutcome outcome = fails(std::string("start_alarm(); ") + code, Kind::interrupted);
    EXPECT_EQ(outcome.error_value, "the cell was interrupted") << code;
  }
  runs("before = 1;");
  expect_session_holds();
}

TEST_F(BrokenCells, StopAtAnInterruptInAFunctionThatPromisesNotToThrow) {
  runs("void spin() noexcept { for (;;) {} } struct Spinner { ~Spinner() { for (;;) {} } };");
  {
    const Alarm alarm;
    fails("start_alarm(); spin();", Kind::interrupted);
  }
  {
    const Alarm alarm;
    fails("{ start_alarm(); Spinner spinner; }", Kind::interrupted);
  }
  expect_session_holds();
}

TEST_F(BrokenCells, DoNotCatchAnInterruptForGood) {
  runs("void spin() { for (;;) {} }");
  const Alarm alarm;
  fails("start_alarm(); while (true) { try { spin(); } catch (...) {} }", Kind::interrupted);
}

TEST_F(BrokenCells, AreLeftAtASecondInterruptWhereTheyDoNotAnswerTheFirst) {
  runs("#include <unistd.h>\n");
  const Alarm alarm;
  std::string code = "start_alarm();";
  for (int i = 0; i < 100; ++i) code += " pause();";  // no loop, which would look for interrupts
  const CellOutcome outcome = fails(code, Kind::interrupted);
  EXPECT_NE(outcome.error_value.find("was ended by force"), std::string::npos);
}

TEST_F(BrokenCells, StopAtAnInterruptWhileTheyAreCompiled) {
  const Alarm alarm;
  Alarm::start();
  const CellOutcome outcome = fails(
      "template <int n> struct F { static constexpr long v = F<n - 1>::v + F<n - 2>::v; };"
      "constexpr long spin() { long n = 0; for (long i = 0; i < 1000000; ++i) n += i; return n; }"
      "constexpr long a = spin(); constexpr long b = spin();"
      "#include <regex>\n#include <iostream>\n#include <random>\n",
      Kind::interrupted);
  EXPECT_EQ(outcome.error_name, "Interrupted");
}

// The compiler must not be left in the middle: the next cell would wait for its locks for ever.
TEST_F(BrokenCells, WaitForTheCompilerAtManyInterrupts) {
  const std::string code =
      "#include <map>\n#include <string>\nstd::map<std::string, int> counts;"
      "counts[\"a\"] = 1; ++before;";
  ASSERT_TRUE(session().check(code, "cell").is_ok());
  {
    const Alarm alarm;
    Alarm::set_interval(500us);
    const CellOutcome outcome = session().run(code, "cell");
    EXPECT_EQ(outcome.kind, Kind::interrupted);
    EXPECT_EQ(outcome.error_value, "the cell was interrupted while it was compiled");
  }
  EXPECT_EQ(value("before"), 1) << "nothing of the cell ran";
  expect_session_holds();
}

TEST_F(BrokenCells, AnInterruptThatComesTooLateHitsNobody) {
  CppSession::handle_interrupts();
  CppSession::interrupt();
  CppSession::forget_interrupts();
  runs("for (int i = 0; i < 1000; ++i) ++before;");
}

}  // namespace
}  // namespace px::cpp
