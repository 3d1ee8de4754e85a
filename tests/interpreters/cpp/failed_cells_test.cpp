// Upstream's incremental compiler loses things when a cell fails; a session must not.
#include <gtest/gtest.h>

#include "interpreters/cpp/messages/diagnostic_text.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class FailedCells : public SessionTest {};

TEST_F(FailedCells, DoNotLoseTemplatesThatTheyWereTheFirstToUse) {
  runs("template <class T> struct Box { T value; T get() { return value; } };");
  fails("{ Box<int> box{3}; px_reported = box.get(); } typo;", Kind::compile_error);
  runs("{ Box<int> box{4}; px_reported = box.get(); }");
  EXPECT_EQ(reported, 4);
}

TEST_F(FailedCells, DoNotBlockTheNameOfAFunctionThatTheyDefined) {
  fails("int f() { return 1; } int g() { return nowhere; }", Kind::compile_error);
  runs("int f() { return 2; }");
  EXPECT_EQ(value("f()"), 2);
}

TEST_F(FailedCells, DoNotUndoTheHeadersThatTheyIncluded) {
  fails("#include <deque>\nstd::deque<int> queue; typo;", Kind::compile_error);
  runs("#include <deque>\nstd::deque<int> queue(5);");
  EXPECT_EQ(value("queue.size()"), 5);
}

TEST_F(FailedCells, KeepTheFunctionThatTheyFailedToDefineAgain) {
  runs("int f() { return 1; }");
  fails("double f() { return typo; }", Kind::compile_error);
  EXPECT_EQ(value("f()"), 1);
}

TEST_F(FailedCells, WithAMissingSymbolLeaveExceptionsWorking) {
  fails("int gone(); int x = gone();", Kind::compile_error);
  const CellOutcome outcome = fails("throw 42;", Kind::exception);
  EXPECT_EQ(outcome.error_name, "int");
  EXPECT_EQ(outcome.error_value, "42");
  EXPECT_FALSE(session().is_defined("x"));
}

TEST_F(FailedCells, WithAMissingSymbolAndAHeaderLeaveTheHeaderInPlace) {
  fails("#include <list>\nint gone(); int x = gone();", Kind::compile_error);
  runs("#include <list>\nstd::list<int> items(3); int x = 1;");
  EXPECT_EQ(value("items.size() + x"), 4);
}

TEST_F(FailedCells, MayUseNamespaces) {
  runs("namespace a { int b = 5; }");
  for (const char* code : {"using namespace a; typo;", "typo; using namespace a;",
                           "namespace { int c; } typo;", "typo; namespace { int c; }"}) {
    const CellOutcome outcome = fails(code, Kind::compile_error);
    EXPECT_NE(outcome.error_value.find("typo"), std::string::npos) << outcome.error_value;
  }
  EXPECT_FALSE(session().is_defined("c"));
  fails("px_reported = b;", Kind::compile_error);
  runs("using namespace a; int c = 6;");
  EXPECT_EQ(value("b + c"), 11);
}

TEST_F(FailedCells, SayWhereEachErrorIsWithACaret) {
  const CellOutcome outcome = fails("int a = 1;\nint b = a +* ;\n", Kind::compile_error);
  EXPECT_EQ(outcome.error_value, "cell 1, line 2, column 14: error: expected expression");
  ASSERT_GE(outcome.traceback.size(), 3u);
  EXPECT_NE(without_colours(outcome.traceback[1]).find("int b = a +* ;"), std::string::npos);
  EXPECT_NE(outcome.traceback[2].find("^"), std::string::npos);
}

TEST_F(FailedCells, ShowErrorsInTheColoursOfATerminal) {
  const CellOutcome outcome = fails("int a = typo;", Kind::compile_error);
  EXPECT_EQ(outcome.error_value.find('\x1b'), std::string::npos) << outcome.error_value;
  EXPECT_NE(outcome.traceback[0].find("\x1b[0;1;31merror: \x1b[0m"), std::string::npos);
  EXPECT_EQ(without_colours(outcome.traceback[0]), outcome.error_value);
  ASSERT_EQ(outcome.traceback.size(), 3u);
  EXPECT_NE(outcome.traceback[2].find("\x1b[0;1;32m"), std::string::npos);
  EXPECT_TRUE(outcome.traceback[2].ends_with("\x1b[0m"));
}

TEST_F(FailedCells, WarnWithoutColours) {
  runs("int f(int n) { if (n) return 1; }");
  EXPECT_NE(session().warnings().find("warning: "), std::string::npos);
  EXPECT_EQ(session().warnings().find('\x1b'), std::string::npos);
}

TEST_F(FailedCells, ThatBreakTheCompilerBreakOnlyACopyOfIt) {
  runs("int x = 7;");
  // Deeper than clang's stack is.
  std::string code = "int y = ";
  for (int i = 0; i < 100000; ++i) code += "-(";
  const CellOutcome outcome = run(code);
  EXPECT_EQ(outcome.kind, Kind::compile_error);
  EXPECT_EQ(value("x"), 7);
}

TEST_F(FailedCells, CanBeCheckedWithoutBeingRun) {
  EXPECT_TRUE(session().check("int x = 1;", "cell 1").is_ok());
  EXPECT_FALSE(session().is_defined("x"));
  EXPECT_TRUE(session().run("int x = 1;", "cell 1").is_ok());
  EXPECT_TRUE(session().is_defined("x"));
}

}  // namespace
}  // namespace px::cpp
