// Functions that one cell declares and uses, and a later cell defines.
#include <gtest/gtest.h>

#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

class LateDefinitions : public NotebookTest {};

TEST_F(LateDefinitions, ServeFunctionsOfEarlierCells) {
  runs("bool is_even(int n); bool is_odd(int n) { return n != 0 && is_even(n - 1); }");
  runs("bool is_even(int n) { return n == 0 || is_odd(n - 1); } bool at_once = is_odd(3);");
  EXPECT_EQ(value("at_once * 100 + is_odd(7) * 10 + is_even(7)"), 110);
}

TEST_F(LateDefinitions, ThatAreMissingAreNamedWhereTheyAreCalled) {
  runs("namespace mine { int later(int n); int twice(int n) { return 2 * later(n); } }");
  const CellOutcome outcome = fails("int before = 1; int n = mine::twice(3);", Kind::exception);
  EXPECT_EQ(outcome.error_name, "LinkError");
  EXPECT_EQ(outcome.error_value,
            "undefined: mine::later(int) (declared, but no cell has defined it yet)");
  EXPECT_EQ(value("before"), 1);
  runs("#include <exception>\npx_reported = 0; try { mine::twice(1); } catch (const std::exception&) { px_reported = 5; }");
  EXPECT_EQ(reported, 5);
  // What a statement itself uses is missing before anything runs.
  fails("before = 2; before = mine::later(1);", Kind::compile_error);
  EXPECT_EQ(value("before"), 1);
  runs("int mine::later(int n) { return n + 1; }");
  EXPECT_EQ(value("mine::twice(3)"), 8);
  EXPECT_EQ(value("mine::later(3)"), 4);
}

TEST_F(LateDefinitions, MayBeOfMembersAndConstructors) {
  runs("#include <string>\n"
       "struct Account { Account(int start); int get() const; int n; std::string name(); };"
       "int total(int start) { return Account(start).get(); }"
       "std::string named() { return Account(1).name(); }");
  runs("Account::Account(int start) : n(start) {} int Account::get() const { return n + 1; }");
  EXPECT_EQ(value("total(4)"), 5);
  fails("named();", Kind::exception);
  runs("std::string Account::name() { return \"of \" + std::to_string(n); }");
  EXPECT_EQ(value("named() == \"of 1\""), 1);
}

TEST_F(LateDefinitions, MayBeDefinedAgain) {
  runs("int late(); int use() { return late(); }");
  runs("int late() { return 1; }");
  EXPECT_EQ(value("use()"), 1);
  runs("int late() { return 2; } int use() { return 10 * late(); }");
  EXPECT_EQ(value("use()"), 20);
  runs("int other(); int late() { return other(); }");
  fails("late();", Kind::exception);
  runs("int other() { return 6; } int now = other();");
  EXPECT_EQ(value("late() + now"), 12);
}

TEST_F(LateDefinitions, AreNotTakenOfVariablesAndOfLibraries) {
  EXPECT_EQ(fails("extern int nowhere; int get() { return nowhere; }", Kind::compile_error)
                .error_name,
            "LinkError");
  const CellOutcome outcome = fails(
      "extern \"C\" double px_no_library_has_this(double); double call() { return "
      "px_no_library_has_this(1); }",
      Kind::compile_error);
  EXPECT_NE(outcome.error_value.find("px_no_library_has_this"), std::string::npos);
}

}  // namespace
}  // namespace px::cpp
