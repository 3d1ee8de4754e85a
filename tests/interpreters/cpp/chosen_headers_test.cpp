#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "interpreters/cpp/kept_code/code_files.hpp"
#include "interpreters/cpp/run/cpp_interpreter.hpp"
#include "interpreters/cpp/run/cpp_session.hpp"

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

  /// The files of machine code that sessions with `told()` keep.
  std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    for (const auto& each : fs::recursive_directory_iterator(folder_ / "cache/polyxeus/cpp"))
      if (each.path().extension() == ".code") files.push_back(each.path());
    return files;
  }
  /// Lets the kept code say something else than the header, so that one sees who uses it.
  void mark_kept_code() const {
    for (const fs::path& path : kept()) {
      std::string identity;
      std::getline(std::ifstream(path, std::ios::binary), identity);
      const CodeFiles files{path.parent_path().string(), identity};
      for (StoredCode& each : files.read()) {
        for (std::size_t at; (at = each.object.find("the header")) != std::string::npos;)
          each.object.replace(at, 10, "kept code!");
        files.add(each);
      }
    }
  }
  /// A header with a template that is compiled for long lists.
  void write_told() {
    fs::remove_all(folder_ / "cache/polyxeus/cpp");
    write("told.hpp",
          "#pragma once\n#include <string>\n#include <vector>\nnamespace told {\n"
          "template <class T> struct Name { static std::string get() { return {}; } };\n"
          "template <class T> [[gnu::noinline]] std::string of(const std::vector<T>& list) {\n"
          "  std::string text = \"This text, which is a long one, comes from the header\";\n"
          "  for (const T& each : list) text += \" \" + std::to_string(each);\n"
          "  return text + Name<T>::get();\n}\n}  // namespace told\n");
    start();
  }
  /// What the function says in a new session.
  std::string told(const std::string& directives = "", const std::string& code = "") {
    start();
    return result_of(directives + "%pch " + (folder_ / "told.hpp").string() + "\n" + code +
                     told_);
  }
  static constexpr const char* told_ = "told::of(std::vector<int>{1, 2}).substr(38)";

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

TEST_F(ChosenHeaders, CodeOfTheirFunctionsIsKeptForOtherSessions) {
  write_told();
  EXPECT_EQ(told(), "\"from the header 1 2\"");
  ASSERT_FALSE(kept().empty());
  mark_kept_code();
  EXPECT_EQ(told(), "\"from kept code! 1 2\"");
  EXPECT_EQ(result_of("int other = 3; told::of(std::vector<int>{other}).substr(38)"),
            "\"from kept code! 3\"");
  EXPECT_EQ(result_of("told::of(std::vector<long>{4}).substr(38)"), "\"from the header 4\"");
}

TEST_F(ChosenHeaders, CodeOfTheirFunctionsIsNotKeptForOtherFlags) {
  write_told();
  told();
  mark_kept_code();
  EXPECT_EQ(told("%flags -DOTHER\n"), "\"from the header 1 2\"");
  EXPECT_EQ(told(), "\"from kept code! 1 2\"");
}

TEST_F(ChosenHeaders, CodeOfTheirFunctionsGoesWithTheHeader) {
  write_told();
  told();
  mark_kept_code();
  std::ofstream(folder_ / "told.hpp", std::ios::app) << "// changed\n";
  EXPECT_EQ(told(), "\"from the header 1 2\"");
}

TEST_F(ChosenHeaders, CodeThatIsDamagedIsMadeAgain) {
  write_told();
  told();
  mark_kept_code();
  for (const fs::path& path : kept()) fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_EQ(told(), "\"from the header 1 2\"");
  mark_kept_code();
  EXPECT_EQ(told(), "\"from kept code! 1 2\"");
}

TEST_F(ChosenHeaders, CodeThatIsKeptIsNotUsedWhereCellsChangeWhatItMeans) {
  write_told();
  told();
  mark_kept_code();
  const std::string specialized =
      "template <> struct told::Name<int> { static std::string get() { return \" of mine\"; } };\n";
  EXPECT_EQ(told("", specialized), "\"from the header 1 2 of mine\"");
  start();
  execute("%pch " + (folder_ / "told.hpp").string() + "\n" + specialized);
  EXPECT_EQ(result_of(told_), "\"from the header 1 2 of mine\"");
  EXPECT_EQ(told(), "\"from kept code! 1 2\"");
  execute("namespace told { int more = 1; }");
  EXPECT_EQ(result_of("told::of(std::vector<long>{4}).substr(38)"), "\"from the header 4\"");
}

TEST_F(ChosenHeaders, CodeOfWhatCellsDefineIsNotKept) {
  write_told();
  told("", "struct Mine { operator int() const { return 7; } };\n"
           "namespace std { string to_string(const Mine&) { return \"mine\"; } }\n"
           "told::of(std::vector<Mine>(1));\n");
  EXPECT_TRUE(kept().empty());
}

TEST_F(ChosenHeaders, CodeThatIsKeptCanBeInterruptedAndThrow) {
  write("steps.hpp",
        "#pragma once\n#include <unistd.h>\n#include <stdexcept>\nnamespace steps {\n"
        "template <class T> [[gnu::noinline]] T run(T count) {\n"
        "  volatile T sum = 0;\n  for (T i = 0; i < count; ++i) sum = sum + i % 7;\n"
        "  if (sum == 3) throw std::runtime_error(\"three\");\n"
        "  for (T i = 0; i < count; ++i) sum = sum + i % 11;\n  return sum;\n}\n}\n");
  CppSession::handle_interrupts();
  ::signal(SIGALRM, [](int) { CppSession::interrupt(); });
  for (int session = 0; session < 2; ++session) {
    start();
    const std::string begin = "%pch " + (folder_ / "steps.hpp").string() + "\n";
    EXPECT_EQ(execute(begin + "steps::run(3l)")["evalue"], "three");
    // The cell starts the alarm itself, so that it rings while it runs.
    EXPECT_EQ(execute("ualarm(20'000, 0); steps::run(1l << 60);")["ename"], "Interrupted");
    EXPECT_EQ(result_of("steps::run(4l)"), "12");
  }
}

}  // namespace
}  // namespace px::cpp
