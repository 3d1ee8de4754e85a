#include "interpreters/cpp/run/cpp_interpreter.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <iostream>

namespace px::cpp {
namespace {

/// Remembers what a program says.
class Heard : public interpreters::Output {
 public:
  void write(std::string_view stream, std::string_view text) override {
    if (stream == "stdout") printed += text;
    if (stream == "stderr") warned += text;
  }
  void publish(std::string_view type, std::string content, std::string,
               std::vector<SharedBytes>) override {
    messages.emplace_back(type, Json::parse(content));
  }
  std::string printed, warned;
  std::vector<std::pair<std::string, Json>> messages;
};

/// One interpreter for all tests: there is one in a process, and it starts in a second without its
/// precompiled header.
class CppCells : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    heard_ = new Heard;
    auto made = CppInterpreter::create(*heard_, {{}, "int from_the_start = 3;"});
    ASSERT_TRUE(made) << made.error().what;
    cells_ = made->release();
  }
  static void TearDownTestSuite() {
    delete cells_;
    delete heard_;
  }
  void SetUp() override {
    heard_->messages.clear();
    heard_->printed.clear();
  }

  /// What the value of the cell looks like; "" where it has none.
  std::string shown(const std::string& code) {
    heard_->messages.clear();
    const Json reply = run(code);
    EXPECT_EQ(reply["status"], "ok")
        << reply.value("evalue", "") << reply.value("traceback", Json());
    for (const auto& [type, content] : heard_->messages)
      if (type == "execute_result") return content["data"]["text/plain"];
    return "";
  }
  Json run(const std::string& code) {
    interpreters::Execution execution;
    execution.code = code;
    execution.count = ++count_;
    return cells_->execute(execution);
  }
  Json serve(const char* type, const Json& content, std::vector<SharedBytes> buffers = {}) {
    result_ = cells_->serve({type, content.dump(), std::move(buffers)});
    return Json::parse(result_.content);
  }
  Json push(const Json& values, std::vector<SharedBytes> buffers = {}) {
    return serve("push_request", {{"values", values}}, std::move(buffers));
  }
  Json pull(const std::string& expression) {
    const Json reply = serve(
        "pull_request", {{"expressions", {expression}}, {"accepts", {"json", "array", "bytes"}}});
    return reply["status"] == "ok" ? reply["values"][0] : reply;
  }
  Json call(const Json& function, const Json& values, bool is_map = false) {
    Json args = Json::array();
    for (const Json& value : values) args.push_back({{"json", value}});
    const Json reply =
        serve("call_request", {{"function", function}, {"args", args}, {"map", is_map}});
    return reply["status"] == "ok" ? reply["value"] : reply;
  }
  std::vector<double> doubles_pulled() const {
    const auto* const begin = reinterpret_cast<const double*>(result_.buffers.at(0).bytes.data());
    return {begin, begin + result_.buffers.at(0).bytes.size() / sizeof(double)};
  }
  static Json array_value(std::vector<std::int64_t> shape) {
    return {{"array", {{"dtype", "<f8"}, {"shape", shape}, {"buffer", 0}}}};
  }
  static std::vector<SharedBytes> doubles(std::vector<double> values) {
    return {AnyArray::adopt(std::move(values)).data};
  }

  static inline Heard* heard_ = nullptr;
  static inline CppInterpreter* cells_ = nullptr;
  static inline int count_ = 0;
  interpreters::ApplyResult result_;
};

TEST_F(CppCells, StartWithoutAComplaint) {
  EXPECT_EQ(heard_->warned, "");
}

TEST_F(CppCells, ShowTheValueOfTheirLastExpression) {
  EXPECT_EQ(shown("int shown_x = 3; shown_x"), "3");
  EXPECT_EQ(shown("shown_x + 0.5"), "3.5");
  EXPECT_EQ(shown("shown_x;"), "");
  EXPECT_EQ(shown("std::vector<double>{1, 2}"), "{1.0, 2.0}");
  EXPECT_EQ(shown("std::map<std::string, int>{{\"a\", 1}}"), "{\"a\": 1}");
  EXPECT_EQ(shown("std::string(\"a\") + \"b\" // joined"), "\"ab\"");
  EXPECT_EQ(shown("std::make_tuple(1, 'c', nullptr)"), "{1, 'c', nullptr}");
  EXPECT_EQ(shown("std::optional<int>()"), "nullopt");
}

TEST_F(CppCells, ShowTypesOfTheUser) {
  run("namespace mine { struct Point { double x, y; };\n"
      "std::ostream& operator<<(std::ostream& out, const Point& p) {\n"
      "  return out << \"(\" << p.x << \", \" << p.y << \")\"; } }");
  EXPECT_EQ(shown("mine::Point{1, 2}"), "(1, 2)");
  EXPECT_EQ(shown("std::vector<mine::Point>{{1, 2}, {3, 4}}"), "{(1, 2), (3, 4)}");
  run("struct Page { std::string text; };\n"
      "std::map<std::string, std::string> mime_bundle_repr(const Page& page) {\n"
      "  return {{\"text/html\", page.text}, {\"text/plain\", \"a page\"}}; }");
  EXPECT_EQ(shown("Page{\"<b>x</b>\"}"), "a page");
  EXPECT_EQ(heard_->messages.at(0).second["data"]["text/html"], "<b>x</b>");
  EXPECT_EQ(shown("struct Bare {}; Bare{}"), "<Bare>");
}

TEST_F(CppCells, ShowWhatNoReferenceIsBoundTo) {
  run("struct Flags { unsigned low : 3; unsigned high : 5; }; Flags flags{5, 17};");
  EXPECT_EQ(shown("flags.high"), "17");
  EXPECT_EQ(shown("flags.low = 6; flags.low"), "6");
}

TEST_F(CppCells, ShowALastExpressionBeforeTheEndOfACondition) {
  EXPECT_EQ(shown("#define HAS_IT 1\n#if HAS_IT\n6 * 7\n#endif"), "42");
  EXPECT_EQ(shown("#if 0\n1\n#elif HAS_IT\n2\n#else\n3\n#endif"), "2");
  EXPECT_EQ(shown("#if HAS_IT\n#if 0\n1\n#else\n[] { return 2; }()\n#endif\n#else\n3\n#endif"),
            "2");
}

TEST_F(CppCells, ShowJsonAsText) {
  run("struct Json { std::string dump(int) const { return \"{\\\"a\\\": 1}\"; }"
      " bool is_object() const { return true; } bool is_array() const { return false; }"
      " operator bool() const { throw 1; } operator long long() const { throw 1; } };");
  EXPECT_EQ(shown("Json()"), "{\"a\": 1}");
}

TEST_F(CppCells, HaveTheStandardLibraryWithoutAnInclude) {
  EXPECT_EQ(shown("std::deque<int> d{1, 2}; std::list<int> l{3}; std::bitset<4> b(5);"
                  "std::any a = 1; std::future<int> f; std::mutex m; std::queue<int> q;"
                  "std::filesystem::path p(\"a/b\"); p.filename().string()"),
            "\"b\"");
  EXPECT_EQ(shown("std::regex_match(\"abc\", std::regex(\"a.c\"))"), "true");
  EXPECT_EQ(shown("auto even = std::vector{1, 2, 4} |"
                  " std::views::filter([](int n) { return n % 2 == 0; });"
                  " std::ranges::distance(even)"),
            "2");
}

TEST_F(CppCells, DisplayShowsWhileTheyRun) {
  run("px::display(px::html(\"<i>x</i>\"));");
  ASSERT_EQ(heard_->messages.size(), 1u);
  EXPECT_EQ(heard_->messages[0].first, "display_data");
}

TEST_F(CppCells, ShowNothingOfStreamsAndVoid) {
  EXPECT_EQ(shown("std::cout << \"said\""), "");
  EXPECT_EQ(heard_->printed, "said");
  EXPECT_EQ(shown("(void)0"), "");
}

TEST_F(CppCells, AreTimed) {
  EXPECT_EQ(shown("%timeit -n 10 -r 2 std::sqrt(2.0)"), "");
  EXPECT_NE(heard_->printed.find("2 runs, 10 loops each"), std::string::npos);
  EXPECT_EQ(shown("%time\nint timed_x = 4; timed_x"), "4");
  EXPECT_NE(heard_->printed.find("wall time: "), std::string::npos);
  EXPECT_EQ(shown("timed_x"), "4");
}

TEST_F(CppCells, GetArraysWithoutACopyAndSendThem) {
  EXPECT_EQ(push({{"pushed_a", array_value({2, 2})}}, doubles({1, 2, 3, 4})),
            (Json{{"status", "ok"}}));
  EXPECT_EQ(shown("pushed_a"), "{{1.0, 2.0},\n {3.0, 4.0}}");
  run("for (double& each : pushed_a) each *= 2;");
  EXPECT_EQ(pull("pushed_a")["array"]["shape"], (Json{2, 2}));
  EXPECT_EQ(doubles_pulled(), (std::vector<double>{2, 4, 6, 8}));
  push({{"pushed_a", array_value({1})}}, doubles({7}));
  EXPECT_EQ(shown("pushed_a"), "{7.0}") << "another rank: defined anew";
  push({{"pushed_a", array_value({2})}}, doubles({8, 9}));
  EXPECT_EQ(shown("pushed_a"), "{8.0, 9.0}");
}

TEST_F(CppCells, GetJsonOfAllKinds) {
  EXPECT_EQ(push({{"pushed_n", {{"json", 3}}},
                  {"pushed_s", {{"json", "text"}}},
                  {"pushed_v", {{"json", {1, 2.5}}}},
                  {"pushed_m", {{"json", {{"a", 1}, {"b", "x"}}}}}}),
            (Json{{"status", "ok"}}));
  EXPECT_EQ(shown("pushed_n + 1"), "4");
  EXPECT_EQ(shown("pushed_s"), "\"text\"");
  EXPECT_EQ(shown("pushed_v"), "{1.0, 2.5}");
  EXPECT_EQ(shown("pushed_m"), "{\"a\": 1, \"b\": \"x\"}");
  EXPECT_EQ(pull("pushed_m"), Json::parse(R"({"json": {"a": 1, "b": "x"}})"));
}

TEST_F(CppCells, KeepTheTypesOfTheirVariables) {
  run("std::vector<float> declared_v; int declared_n = 0;");
  push({{"declared_v", array_value({2})}}, doubles({1, 2}));
  EXPECT_EQ(shown("declared_v"), "{1.0, 2.0}");
  EXPECT_EQ(pull("declared_v")["array"]["dtype"], "<f4");
  const Json refused = push({{"declared_n", {{"json", 2.5}}}});
  EXPECT_EQ(refused["ename"], "TypeError");
  EXPECT_EQ(refused["evalue"], "declared_n: the number 2.5 cannot be converted to int");
  EXPECT_EQ(shown("declared_n"), "0");
}

TEST_F(CppCells, SendWhatAnyExpressionGives) {
  EXPECT_EQ(pull("1 + 1"), (Json{{"json", 2}}));
  EXPECT_EQ(pull("std::vector<std::string>{\"a\"}"), Json::parse(R"({"json": ["a"]})"));
  EXPECT_EQ(pull("std::string(\"x\")"), (Json{{"json", "x"}}));
  EXPECT_EQ(pull("missing_name")["ename"], "CompileError");
  EXPECT_EQ(pull("std::thread::id()")["ename"], "TypeError");
  EXPECT_EQ(pull("throw std::runtime_error(\"no\"), 1")["evalue"], "no");
}

TEST_F(CppCells, AreCalled) {
  run("double area(double r) { return 3 * r * r; }\n"
      "int pick(int) { return 1; } int pick(const std::string&) { return 2; }\n"
      "template <class T> T doubled(T x) { return x + x; }\n"
      "double sum_of(std::span<const double> v) { double s = 0; for (double e : v) s += e; return "
      "s; }");
  EXPECT_EQ(call({{"name", "area"}}, {2}), (Json{{"json", 12.0}}));
  EXPECT_EQ(call({{"name", "pick"}}, {"x"}), (Json{{"json", 2}}));
  EXPECT_EQ(call({{"name", "doubled"}}, {"x"}), (Json{{"json", "xx"}}));
  EXPECT_EQ(call({{"name", "doubled"}}, {2.5}), (Json{{"json", 5.0}}));
  EXPECT_EQ(call({{"name", "std::sqrt"}}, {4.0}), (Json{{"json", 2.0}}));
  EXPECT_EQ(call({{"name", "sum_of"}}, {{1, 2, 3}}), (Json{{"json", 6.0}}));
  EXPECT_EQ(call({{"code", "[](double x) { return x * x; }"}}, {3}), (Json{{"json", 9.0}}));
  EXPECT_EQ(call({{"code", "[](auto x) { return x * x; }"}}, {3}), (Json{{"json", 9}}));
  EXPECT_EQ(call({{"code", "int thrice(int x) { return 3 * x; }"}}, {3}), (Json{{"json", 9}}));
  EXPECT_EQ(call({{"name", "area"}}, {2}, false), (Json{{"json", 12.0}}));
  EXPECT_EQ(call({{"name", "area"}}, {{1, 2}}, true), (Json{{"json", {3.0, 12.0}}}));
  EXPECT_EQ(call({{"name", "std::sqrt"}}, {{4.0, 9.0}}, true), (Json{{"json", {2.0, 3.0}}}));
  EXPECT_EQ(call({{"name", "area"}}, {"x"})["ename"], "TypeError");
  EXPECT_EQ(call({{"name", "no_such_function"}}, {1})["ename"], "CompileError");
}

TEST_F(CppCells, CallWhatAFunctionMeansNow) {
  run("int changing() { return 1; }");
  EXPECT_EQ(call({{"name", "changing"}}, Json::array()), (Json{{"json", 1}}));
  run("int changing() { return 2; }");
  EXPECT_EQ(call({{"name", "changing"}}, Json::array()), (Json{{"json", 2}}));
  run("int changing_x = 1;");
  EXPECT_EQ(pull("changing_x"), (Json{{"json", 1}}));
  run("std::string changing_x = \"a\";");
  EXPECT_EQ(pull("changing_x"), (Json{{"json", "a"}}));
}

/// How many bytes of this process may run: what is compiled adds to them.
std::uintptr_t bytes_of_code() {
  std::ifstream maps("/proc/self/maps");
  std::uintptr_t begin = 0, end = 0, sum = 0;
  char dash = 0;
  for (std::string rights, rest; maps >> std::hex >> begin >> dash >> end >> rights;
       std::getline(maps, rest))
    if (rights.find('x') != std::string::npos) sum += end - begin;
  return sum;
}

TEST_F(CppCells, AreCalledAgainWithoutCompiling) {
  run("long plus_one(long x) { return x + 1; }");
  call({{"name", "plus_one"}}, {1});
  const std::uintptr_t before = bytes_of_code();
  ASSERT_GT(before, 0u);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(call({{"name", "plus_one"}}, {i}), (Json{{"json", i + 1}}));
  EXPECT_EQ(bytes_of_code(), before);
}

TEST_F(CppCells, ForgetOnceTheyAreCleared) {
  push({{"forgotten", {{"json", 1}}}});
  cells_->clear();
  EXPECT_EQ(pull("forgotten")["ename"], "CompileError");
  push({{"forgotten", {{"json", 2}}}});
  EXPECT_EQ(pull("forgotten"), (Json{{"json", 2}}));
}

TEST_F(CppCells, ClearOutputComesBehindWhatWasPrinted) {
  run("std::cout << \"gone\"; px::clear_output(true); px::clear_output();");
  EXPECT_EQ(heard_->printed, "gone");
  ASSERT_EQ(heard_->messages.size(), 2U);
  EXPECT_EQ(heard_->messages[0].first, "clear_output");
  EXPECT_EQ(heard_->messages[0].second, (Json{{"wait", true}}));
  EXPECT_EQ(heard_->messages[1].second, (Json{{"wait", false}}));
}

TEST_F(CppCells, WhatAProgramGivesToItsSessionsIsThereAgainWhenAllIsForgotten) {
  EXPECT_EQ(shown("from_the_start"), "3");
  run("from_the_start = 4; int mine = 5;");
  cells_->clear();
  EXPECT_EQ(shown("from_the_start"), "3");
  EXPECT_EQ(run("mine")["ename"], "CompileError");
}

}  // namespace
}  // namespace px::cpp
