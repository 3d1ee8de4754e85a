#include <gtest/gtest.h>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

class CppSessionTest : public SessionTest {};

TEST_F(CppSessionTest, LaterCellsSeeWhatEarlierOnesDefined) {
  runs("int x = 3; int twice(int n) { return 2 * n; }");
  EXPECT_EQ(value("twice(x)"), 6);
}

TEST_F(CppSessionTest, WhatACellThatDoesNotCompileWouldHaveDefinedIsNotDefined) {
  const CellOutcome outcome = session().run("int y = 1; int z = nowhere;", "cell 2");
  EXPECT_EQ(outcome.kind, CellOutcome::Ending::compile_error);
  EXPECT_EQ(outcome.error_name, "CompileError");
  EXPECT_EQ(outcome.error_value,
            "cell 2, line 1, column 20: error: use of undeclared identifier 'nowhere'");
  EXPECT_FALSE(session().is_defined("y"));
  EXPECT_FALSE(session().is_defined("z"));
}

TEST_F(CppSessionTest, ASymbolThatNobodyHasIsNamed) {
  runs("int user_sum(int, int);");
  const CellOutcome outcome = run("int s = user_sum(1, 2);");
  EXPECT_EQ(outcome.error_name, "LinkError");
  EXPECT_NE(outcome.error_value.find("undefined: user_sum(int, int)"), std::string::npos);
  runs("int user_sum(int a, int b) { return a + b; }");
  runs("int s = user_sum(1, 2);");
  EXPECT_EQ(value("s"), 3);
}

}  // namespace
}  // namespace px::cpp
