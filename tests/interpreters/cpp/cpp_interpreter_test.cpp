#include <gtest/gtest.h>

#include <mutex>

#include "interpreters/cpp/run/cpp_interpreter.hpp"

namespace px::cpp {
namespace {

/// Keeps what it gets.
class RecordingOutput final : public interpreters::Output {
 public:
  void write(std::string_view stream, std::string_view text) override {
    const std::lock_guard lock(mutex_);
    if (log_.empty() || log_.back().first != stream) log_.emplace_back(stream, "");
    log_.back().second += text;
  }
  void publish(std::string_view type, std::string content, std::string,
               std::vector<SharedBytes>) override {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(type, content);
  }
  using Log = std::vector<std::pair<std::string, std::string>>;
  Log take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(log_, {});
  }
  /// The only message of that type since the last take().
  Json message(const std::string& type) {
    for (const auto& [each, content] : take())
      if (each == type) return Json::parse(content);
    return nullptr;
  }

 private:
  std::mutex mutex_;
  Log log_;
};

/// One interpreter for all tests: its header takes a second where it is not precompiled yet.
class CppInterpreterTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    output_ = new RecordingOutput;
    auto created = CppInterpreter::create(*output_);
    ASSERT_TRUE(created) << created.error().what;
    interpreter_ = std::move(*created);
  }
  static void TearDownTestSuite() {
    interpreter_.reset();
    delete output_;
  }
  void SetUp() override { output().take(); }

  static Json execute(const std::string& code, bool is_silent = false) {
    interpreters::Execution execution;
    execution.code = code;
    execution.is_silent = is_silent;
    execution.count = is_silent ? 0 : ++count_;
    return interpreter_->execute(execution);
  }
  static std::string result_of(const std::string& code) {
    const Json reply = execute(code);
    EXPECT_EQ(reply["status"], "ok") << reply.dump(1);
    const Json message = output().message("execute_result");
    return message.is_null() ? "" : message["data"]["text/plain"].get<std::string>();
  }
  static CppInterpreter& interpreter() { return *interpreter_; }
  static RecordingOutput& output() { return *output_; }
  static inline RecordingOutput* output_ = nullptr;
  static inline std::unique_ptr<CppInterpreter> interpreter_;
  static inline int count_ = 0;
};

using Log = RecordingOutput::Log;

TEST_F(CppInterpreterTest, IsInterruptedWhileRanksVote) {
  interpreter().set_agreement([](const Json&, const CellOutcome&) {
    CppSession::interrupt();
    return std::optional<std::string>("it was interrupted before all ranks had compiled it");
  });
  EXPECT_EQ(execute("int voted = 1;")["ename"], "Interrupted");
  interpreter().set_agreement({});
  EXPECT_EQ(result_of("1 + 1"), "2");
}

TEST_F(CppInterpreterTest, ShowsTheLinesThatAnExceptionPassed) {
  execute(
      "int check_size(int n) {\n  if (n > 2) throw std::length_error(\"too many\");\n  return "
      "n;\n}");
  const std::string first = "\x1b[32mcell " + std::to_string(count_);
  const Json reply = execute("int size = 3;\n  check_size(size) + 1");
  EXPECT_EQ(reply["evalue"], "too many");
  EXPECT_EQ(reply["traceback"], (Json{"\x1b[32mcell " + std::to_string(count_) + ", line 2\x1b[0m",
                                      "    check_size(size) + 1", first + ", line 2\x1b[0m",
                                      "    if (n > 2) throw std::length_error(\"too many\");",
                                      "std::length_error: too many"}));
}

TEST_F(CppInterpreterTest, ShowsNoLinesOfAnotherCellWhereCellsHaveNoNumbers) {
  execute("void refuse_all() {\n  throw 3;\n}", true);
  EXPECT_EQ(execute("1;\nrefuse_all();", true)["traceback"],
            (Json{"\x1b[32mcell, line 2\x1b[0m", "    refuse_all();", "\x1b[32mcell, line 2\x1b[0m",
                  "int: 3"}));
}

TEST_F(CppInterpreterTest, CutsTheLinesOfADeepRecursion) {
  const Json reply = execute(
      "int deep(int n) {\n  if (n == 0) throw 1;\n  return deep(n - 1) + n * deep(n - 2);\n}\n"
      "deep(100)");
  ASSERT_LE(reply["traceback"].size(), 40u) << reply["traceback"].dump(1);
  EXPECT_EQ(reply["traceback"][0], "...");
  EXPECT_EQ(reply["traceback"].back(), "int: 1");
}

TEST_F(CppInterpreterTest, EndsACellThatReadsWhatNobodyCanType) {
  const Json reply = execute("int typed = 7;\nstd::cin >> typed;\ntyped = 8;");
  EXPECT_EQ(reply["ename"], "NoInput");
  EXPECT_NE(reply["evalue"].get<std::string>().find("std::cin has no input here"),
            std::string::npos);
  EXPECT_EQ(result_of("typed"), "7");
  EXPECT_EQ(execute("std::string word; std::getline(std::cin, word);")["ename"], "NoInput");
}

TEST_F(CppInterpreterTest, EndsACellThatReadsWhatNobodyCanTypeByC) {
  const Json reply = execute("int by_c = 7;\nstd::scanf(\"%d\", &by_c);\nby_c = 8;");
  EXPECT_EQ(reply["ename"], "NoInput");
  EXPECT_EQ(reply["evalue"].get<std::string>().find("stdin has no input here"), 0u);
  EXPECT_EQ(result_of("by_c"), "7");
  EXPECT_EQ(execute("std::getchar();")["ename"], "NoInput");
  EXPECT_EQ(execute("char some[9]; std::fgets(some, 9, stdin);")["ename"], "NoInput");
  EXPECT_EQ(execute("std::fread(some, 1, 9, stdin);")["ename"], "NoInput");
}

TEST_F(CppInterpreterTest, SurvivesACrashAfterACellThatWantedInputByC) {
  EXPECT_EQ(execute("int by_c;\nstd::scanf(\"%d\", &by_c);")["ename"], "NoInput");
  EXPECT_EQ(execute("*static_cast<volatile int*>(nullptr) = 1;")["ename"], "Crashed");
  EXPECT_EQ(execute("std::scanf(\"%d\", &by_c);")["ename"], "NoInput");
}

TEST_F(CppInterpreterTest, ReadsWhatTheUserTypes) {
  std::vector<std::string> typed{"12 left over", "a whole line", "\x04"};
  interpreter().set_input([&typed]() -> Result<std::string> {
    if (typed.empty()) return Error{ErrorKind::unsupported, "nothing more"};
    std::string line = typed.front();
    typed.erase(typed.begin());
    return line;
  });
  EXPECT_EQ(result_of("int number = 0; std::cin >> number; number"), "12");
  EXPECT_EQ(result_of("std::string line; std::getline(std::cin, line); line"), "\"a whole line\"");
  EXPECT_EQ(result_of("bool is_read = bool(std::cin >> number); is_read"), "false");
  EXPECT_EQ(execute("std::cin >> number;")["evalue"], "std::cin has no input here: nothing more");
}

TEST_F(CppInterpreterTest, ReadsWhatTheUserTypesByC) {
  std::vector<std::string> typed{"12 left over", "3 4 5", "a whole line", "\x04", "6"};
  interpreter().set_input([&typed]() -> Result<std::string> {
    std::string line = typed.front();
    typed.erase(typed.begin());
    return line;
  });
  EXPECT_EQ(result_of("int first = 0; std::scanf(\"%d\", &first); first"), "12");
  EXPECT_EQ(result_of("int second = 0, third = 0; std::cin >> first;"
                      "std::scanf(\"%d\", &second); std::cin >> third;"
                      "first * 100 + second * 10 + third"),
            "345");
  EXPECT_EQ(result_of("char text[99]; std::string(std::fgets(text, 99, stdin))"),
            "\"a whole line\\n\"");
  EXPECT_EQ(result_of("int end = std::getchar(); end == EOF && std::feof(stdin)"), "true");
  EXPECT_EQ(result_of("std::getchar()"), "54");
}

TEST_F(CppInterpreterTest, ShowsTheValueOfTheLastExpression) {
  EXPECT_EQ(result_of("int x = 41; x + 1"), "42");
  EXPECT_EQ(result_of("std::vector<double> v{1, 2.5}; v"), "{1.0, 2.5}");
  EXPECT_EQ(result_of("x = 2;"), "");
}

TEST_F(CppInterpreterTest, PrintsInOrder) {
  execute(
      "std::cout << \"a\" << 'b'; std::cout << \"c\"; std::cerr << \"d\";"
      "std::cout << \"e\" << std::endl;");
  const Log expected = {{"stdout", "abc"}, {"stderr", "d"}, {"stdout", "e\n"}};
  EXPECT_EQ(output().take(), expected);
}

TEST_F(CppInterpreterTest, AnswersAnErrorWithItsNameAndPlace) {
  const Json reply = execute("int ok = 1;\nint broken = nowhere;");
  EXPECT_EQ(reply["status"], "error");
  EXPECT_EQ(reply["ename"], "CompileError");
  const std::string place = "cell " + std::to_string(count_) + ", line 2, column 14";
  EXPECT_EQ(reply["evalue"].get<std::string>().find(place), 0u) << reply["evalue"];
  const Json published = output().message("error");
  EXPECT_EQ(published["ename"], "CompileError");
  EXPECT_FALSE(published.contains("status"));
}

TEST_F(CppInterpreterTest, PrintsBeforeItThrows) {
  const Json reply = execute("std::cout << \"so far\"; throw std::runtime_error(\"no further\");");
  EXPECT_EQ(reply["ename"], "std::runtime_error");
  EXPECT_EQ(reply["evalue"], "no further");
  const Log log = output().take();
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[0].second, "so far");
}

TEST_F(CppInterpreterTest, CountsNeitherSilentCellsNorShowsTheirValues) {
  EXPECT_EQ(execute("6 * 7", true)["status"], "ok");
  EXPECT_TRUE(output().take().empty());
}

TEST_F(CppInterpreterTest, AnswersUserExpressions) {
  execute("int asked = 7;");
  interpreters::Execution execution;
  execution.code = "asked++;";
  execution.user_expressions = {{"a", "asked * 2"}, {"b", "unknown"}};
  const Json values = interpreter().execute(execution)["user_expressions"];
  EXPECT_EQ(values["a"]["data"]["text/plain"], "16");
  EXPECT_EQ(values["b"]["status"], "error");
}

TEST_F(CppInterpreterTest, RunsNothingWhereOthersDoNotAgree) {
  interpreter().set_agreement([](const Json&, const CellOutcome& checked) {
    EXPECT_TRUE(checked.is_ok());
    return std::optional<std::string>("rank 2 did not compile it");
  });
  const Json reply = execute("int never = 1;");
  interpreter().set_agreement({});
  EXPECT_EQ(reply["ename"], "NotRun");
  EXPECT_EQ(reply["evalue"], "rank 2 did not compile it");
  EXPECT_EQ(execute("never;")["ename"], "CompileError");
}

TEST_F(CppInterpreterTest, TellsOthersWhatDoesNotCompileHere) {
  bool compiles = true;
  interpreter().set_agreement([&](const Json&, const CellOutcome& checked) {
    compiles = checked.is_ok();
    return std::optional<std::string>("not all did");
  });
  EXPECT_EQ(execute("nowhere;")["ename"], "CompileError");
  interpreter().set_agreement({});
  EXPECT_FALSE(compiles);
}

TEST_F(CppInterpreterTest, RefusesPicklesInAClearSentence) {
  const interpreters::ApplyResult result = interpreter().apply({});
  EXPECT_FALSE(result.is_ok);
  EXPECT_NE(result.content.find("This engine runs C++"), std::string::npos);
}

TEST_F(CppInterpreterTest, RefusesADirectiveThatItDoesNotKnow) {
  EXPECT_EQ(execute("%nonsense\nint x;")["ename"], "DirectiveError");
  EXPECT_EQ(execute("%inc /no/such/folder\nint x;")["ename"], "DirectiveError");
  EXPECT_EQ(execute("%flags -O3\nint x;")["ename"], "DirectiveError");
}

TEST_F(CppInterpreterTest, RemembersCells) {
  execute("int remembered = 1;");
  const Json history = interpreter().history({{"hist_access_type", "tail"}, {"n", 1}})["history"];
  ASSERT_EQ(history.size(), 1u);
  EXPECT_EQ(history[0][2], "int remembered = 1;");
}

TEST_F(CppInterpreterTest, SaysWhichLanguageItSpeaks) {
  EXPECT_EQ(interpreter().kernel_info()["language_info"]["name"], "c++");
}

TEST_F(CppInterpreterTest, PassesWarningsOn) {
  execute("int no_result() { }");
  const Log log = output().take();
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0].first, "stderr");
  EXPECT_NE(log[0].second.find("warning: non-void function"), std::string::npos);
}

TEST_F(CppInterpreterTest, RunsStatementsWhoseLambdasAreHardToSee) {
  EXPECT_EQ(execute("(void)[] { return 1; };")["status"], "ok");
  EXPECT_EQ(execute("throw [] { return std::runtime_error(\"on purpose\"); }();")["evalue"],
            "on purpose");
  EXPECT_EQ(result_of("(int)[] { return 7; }()"), "7");
}

TEST_F(CppInterpreterTest, AssertsAtTheTopOfACellWithoutAWarning) {
  output().take();
  EXPECT_EQ(execute("#include <cassert>\nassert(1 == 1);")["status"], "ok");
  EXPECT_TRUE(output().take().empty());
}

TEST_F(CppInterpreterTest, ForgetsEverythingWhenItIsCleared) {
  execute("int kept = 1;");
  interpreter().clear();
  EXPECT_EQ(execute("kept;")["ename"], "CompileError");
  EXPECT_EQ(result_of("1 + 1"), "2");
}

}  // namespace
}  // namespace px::cpp
