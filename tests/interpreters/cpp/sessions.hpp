#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "interpreters/cpp/cells/cell_text.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"

namespace px::cpp {

/// Where cells put a number so that a test can look at it.
inline double reported = 0;

inline CppSession::Options options_with_report() {
  CppSession::Options options;
  options.limits.processor_seconds = 20;
  options.prelude = "extern \"C\" double px_reported;";
  options.symbols = {{"px_reported", &reported}};
  return options;
}

/// Cells in a session of their own.
class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    auto created = CppSession::create(options_with_report());
    if (created)
      session_ = std::move(*created);
    else
      ADD_FAILURE() << created.error().what;
  }

  CppSession& session() { return *session_; }
  /// What is compiled of a cell.
  virtual std::string form(const std::string& code) { return code; }
  CellOutcome run(const std::string& code) {
    return session().run(form(code), "cell " + std::to_string(++count_));
  }
  /// Expects that the cell does what it should.
  void runs(const std::string& code) {
    const CellOutcome outcome = run(code);
    EXPECT_TRUE(outcome.is_ok()) << code << "\n" << said(outcome);
  }
  CellOutcome fails(const std::string& code, CellOutcome::Ending kind) {
    CellOutcome outcome = run(code);
    EXPECT_EQ(outcome.kind, kind) << code << "\n" << said(outcome);
    return outcome;
  }
  /// What an expression is, as a number.
  double value(const std::string& expression) {
    reported = -12345;
    runs("px_reported = (double)(" + expression + ");");
    return reported;
  }
  static std::string said(const CellOutcome& outcome) {
    std::string text = outcome.error_name + ": " + outcome.error_value;
    for (const std::string& line : outcome.traceback) text += "\n" + line;
    return text;
  }

 private:
  std::unique_ptr<CppSession> session_;
  int count_ = 0;
};

/// Cells as a notebook has them: with lambdas in their statements.
class NotebookTest : public SessionTest {
 protected:
  std::string form(const std::string& code) override {
    return forms_of({{}, code}, [&](const std::string& name) { return session().macro(name); })
        .back();
  }
};

}  // namespace px::cpp
