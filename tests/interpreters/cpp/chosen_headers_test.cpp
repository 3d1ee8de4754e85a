#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "interpreters/cpp/run/cpp_interpreter.hpp"

namespace px::cpp {
namespace {

namespace fs = std::filesystem;

/// Forgets what it gets, but for results.
class ResultOutput final : public interpreters::Output {
 public:
  void write(std::string_view, std::string_view) override {}
  void publish(std::string_view type, std::string content, std::string,
               std::vector<SharedBytes>) override {
    if (type == "execute_result") result = Json::parse(content)["data"]["text/plain"];
  }
  std::string result;
};

/// Sessions with headers in a folder of their own, and a folder for what is precompiled. The header
/// of all sessions is made once for all tests.
class ChosenHeaders : public testing::Test {
 protected:
  static void SetUpTestSuite() { fs::remove_all(folder_); }
  static void TearDownTestSuite() { fs::remove_all(folder_); }
  void SetUp() override {
    fs::create_directories(folder_);
    write("mine.hpp",
          "#pragma once\ntemplate <class T> T twice(T t) { return t + t; }"
          "static int counter = 5; static int next() { static int id = 0; return ++id; }");
    setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    start();
    count_before_ = count_of_precompiled();
  }
  void TearDown() override {
    interpreter_.reset();
    unsetenv("XDG_CACHE_HOME");
  }

  void start() {
    interpreter_.reset();
    auto created = CppInterpreter::create(output_);
    ASSERT_TRUE(created) << created.error().what;
    interpreter_ = std::move(*created);
  }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  Json execute(const std::string& code) {
    interpreters::Execution execution;
    execution.code = code;
    execution.count = ++count_;
    return interpreter_->execute(execution);
  }
  std::string result_of(const std::string& code) {
    output_.result.clear();
    const Json reply = execute(code);
    EXPECT_EQ(reply["status"], "ok") << reply.dump(1);
    return output_.result;
  }
  std::string why(const std::string& code) {
    const Json reply = execute(code);
    EXPECT_EQ(reply["ename"], "DirectiveError") << reply.dump(1);
    return reply.value("evalue", "");
  }
  /// How many headers the test has precompiled.
  std::size_t count_of_made() const { return count_of_precompiled() - count_before_; }
  std::size_t count_of_precompiled() const {
    std::size_t count = 0;
    for (const auto& each : fs::directory_iterator(folder_ / "cache/polyxeus/cpp"))
      count += fs::exists(each.path() / "prelude.pch");
    return count;
  }

  static inline const fs::path folder_ =
      fs::path(testing::TempDir()) / ("px_chosen_headers" + std::to_string(::getpid()));
  const std::string mine_ = (folder_ / "mine.hpp").string();

 private:
  ResultOutput output_;
  std::unique_ptr<CppInterpreter> interpreter_;
  int count_ = 0;
  std::size_t count_before_ = 0;
};

TEST_F(ChosenHeaders, AreMadeOnceForAllSessionsUntilTheyChange) {
  EXPECT_EQ(result_of("%pch " + mine_ + "\ntwice(21)"), "42");
  EXPECT_EQ(result_of("#include \"" + mine_ + "\"\ntwice(4)"), "8");
  EXPECT_EQ(count_of_made(), 1u);
  start();
  EXPECT_EQ(result_of("%pch " + mine_ + "\ntwice(3)"), "6");
  EXPECT_EQ(count_of_made(), 1u);
  write("mine.hpp", "template <class T> T twice(T t) { return 2 * t + 1; }");
  start();
  EXPECT_EQ(result_of("%pch " + mine_ + "\ntwice(21)"), "43");
}

TEST_F(ChosenHeaders, KeepWhatIsStaticInThem) {
  EXPECT_EQ(result_of("%pch " + mine_ + "\ncounter"), "5");
  execute("++counter;");
  EXPECT_EQ(result_of("counter"), "6");
  execute("next();");
  EXPECT_EQ(result_of("next()"), "2");
}

TEST_F(ChosenHeaders, AreMadeForTheFlagsAndFoldersOfTheCell) {
  write("inner.hpp", "constexpr int inner = LEVEL;");
  write("outer.hpp", "#include <inner.hpp>\n");
  EXPECT_EQ(result_of("%pch <outer.hpp>\n%inc " + folder_.string() + "\n%flags -DLEVEL=3\ninner"),
            "3");
  EXPECT_EQ(count_of_made(), 1u);
}

TEST_F(ChosenHeaders, ThatAreNotThereLeaveTheSession) {
  const std::string said = why("%pch <no/such.hpp>\nint x;");
  EXPECT_EQ(said,
            "%pch failed: 'no/such.hpp' file not found; name its folder with %inc, or its package "
            "with %pkg, in the cell of %pch");
  write("wrong.hpp", "int wrong = nothing;");
  EXPECT_NE(why("%pch " + (folder_ / "wrong.hpp").string()).find("undeclared identifier 'nothing'"),
            std::string::npos);
  EXPECT_EQ(result_of("%pch " + mine_ + "\ntwice(21)"), "42");
}

TEST_F(ChosenHeaders, AreChosenBeforeTheFirstCell) {
  EXPECT_EQ(result_of("%pch " + mine_ + "\nint x = 3; x"), "3");
  EXPECT_EQ(result_of("%pch " + mine_ + "\nx"), "3");  // the same choice again changes nothing
  EXPECT_NE(why("%pch <complex.h>").find("put %flags and %pch into the first cell"),
            std::string::npos);
  EXPECT_NE(why("%pch").find("%pch needs an argument"), std::string::npos);
}

}  // namespace
}  // namespace px::cpp
