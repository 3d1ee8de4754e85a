#include "interpreters/cpp/values/cpp_values.hpp"

#include <gtest/gtest.h>

#include <regex>

#include "interpreters/cpp/prelude/px_cell.hpp"
#include "interpreters/cpp/values/cell_type_error.hpp"

namespace px::cpp {
namespace {

using Code = void (*)();

double x_variable = 0;
px::array<double, 1> array_variable;

/// A session that knows its cells: each is bound to a function of the test.
class CppValuesServe : public testing::Test {
 protected:
  CppValuesServe() { exchange_.install(); }

  /// From now on code with this text in it is that function.
  void knows(const std::string& text, Code code) { known_.emplace_back(text, code); }

  CellRunner runner() {
    CellRunner runner;
    runner.run = [this](const std::string& code, const std::string& name) {
      return run(code, name);
    };
    runner.call = [](Code code) {
      CellOutcome outcome;
      try {
        code();
      } catch (const CellTypeError& error) {
        outcome = {
            CellOutcome::Ending::exception, "px::cpp::CellTypeError", error.what(), {"trace"}, {}};
      } catch (const std::exception& error) {
        outcome = {CellOutcome::Ending::exception, "std::exception", error.what(), {"trace"}, {}};
      }
      return outcome;
    };
    runner.identity = [this](const std::string& name) -> const void* {
      const auto found = defined_.find(name);
      return found == defined_.end() ? nullptr : &*found;
    };
    return runner;
  }

  /// `whole` but for the directives that keep the lines of what users write.
  CellOutcome run(const std::string& whole, const std::string& name) {
    const std::string code = std::regex_replace(whole, std::regex("\n#line 1\n"), "");
    cells_.push_back(code);
    names_.push_back(name);
    for (const auto& [text, function] : known_) {
      if (code.find(text) == std::string::npos) continue;
      const std::size_t at = code.find("::px_cell_bind(");
      exchange_.bind(std::stoi(code.substr(at + 15)), function);
      for (const std::string& made : makes_) defined_.insert({made, 1});
      return {};
    }
    return {CellOutcome::Ending::compile_error, "CompileError", "unknown", {"unknown"}, {}};
  }

  Json serve(const char* type, const Json& content, std::vector<SharedBytes> buffers = {}) {
    result_ = values_.serve({type, content.dump(), std::move(buffers)});
    return Json::parse(result_.content);
  }

  CellExchange exchange_;
  std::vector<std::pair<std::string, Code>> known_;
  std::map<std::string, int> defined_;
  std::vector<std::string> makes_;
  std::vector<std::string> cells_, names_;
  interpreters::ApplyResult result_;
  CppValues values_{runner(), exchange_};
};

/// The cell that compiles `code`, the first one.
std::string compiled(const std::string& code, const std::string& definitions = "") {
  return definitions + "void px_code_1() {\n" + code + "}\n::px_cell_bind(0, px_code_1);";
}

Json array_value(std::vector<std::int64_t> shape) {
  return {{"array", {{"dtype", "<f8"}, {"shape", shape}, {"buffer", 0}}}};
}
std::vector<SharedBytes> doubles(std::vector<double> values) {
  return {AnyArray::adopt(std::move(values)).data};
}

TEST_F(CppValuesServe, APushDefinesANewName) {
  makes_ = {"x"};
  knows("assign(x, 0)", [] { cell::assign(array_variable, 0); });
  EXPECT_EQ(serve("push_request", {{"values", {{"x", array_value({2})}}}}, doubles({1, 2})),
            (Json{{"status", "ok"}}));
  EXPECT_TRUE(result_.is_ok);
  EXPECT_EQ(cells_,
            std::vector{compiled("::px::cell::assign(x, 0);\n", "px::array<double, 1> x{};\n")});
  EXPECT_EQ(array_variable(1), 2);
}

TEST_F(CppValuesServe, ASecondPushOfTheSameKindCompilesNothing) {
  makes_ = {"x"};
  knows("assign(x, 0)", [] { cell::assign(array_variable, 0); });
  serve("push_request", {{"values", {{"x", array_value({2})}}}}, doubles({1, 2}));
  serve("push_request", {{"values", {{"x", array_value({3})}}}}, doubles({1, 2, 3}));
  EXPECT_EQ(cells_.size(), 1u);
  EXPECT_EQ(array_variable.size(), 3u);
}

TEST_F(CppValuesServe, APushOfAnotherTypeDefinesItsNameAnew) {
  makes_ = {"x"};
  knows("assign(x, 0)", [] { x_variable = cell::take<double>(0); });
  serve("push_request", {{"values", {{"x", {{"json", 1.5}}}}}});
  serve("push_request", {{"values", {{"x", {{"json", 2}}}}}});
  EXPECT_EQ(cells_.at(1).substr(0, 10), "long x{};\n");
}

TEST_F(CppValuesServe, AVariableOfTheUsersIsAssigned) {
  defined_ = {{"x", 1}};
  knows("assign(x, 0)", [] { cell::assign(x_variable, 0); });
  serve("push_request", {{"values", {{"x", {{"json", 4}}}}}});
  EXPECT_EQ(cells_.at(0), compiled("::px::cell::assign(x, 0);\n"));
  EXPECT_EQ(x_variable, 4.0);
}

TEST_F(CppValuesServe, AValueThatDoesNotFitIsATypeError) {
  defined_ = {{"x", 1}};
  knows("assign(x, 0)", [] { cell::assign(x_variable, 0); });
  const Json reply = serve("push_request", {{"values", {{"x", {{"json", "text"}}}}}});
  EXPECT_EQ(reply["ename"], "TypeError");
  EXPECT_EQ(reply["evalue"], "x: a text cannot be converted to double");
  EXPECT_FALSE(result_.is_ok);
}

TEST_F(CppValuesServe, WhatIsNoNameIsNotPushed) {
  EXPECT_EQ(serve("push_request", {{"values", {{"x; y", {{"json", 1}}}}}})["evalue"],
            "cannot push 'x; y': it is not a valid name");
  EXPECT_TRUE(cells_.empty());
}

TEST_F(CppValuesServe, PicklesAreRefused) {
  const Json pickle = {{"pickle", {0}}};
  const Json pushed = serve("push_request", {{"values", {{"x", pickle}}}}, doubles({1}));
  EXPECT_EQ(pushed["ename"], "TypeError");
  EXPECT_EQ(pushed["evalue"].get<std::string>().substr(0, 26), "x: a pickled Python object");
  const Json called = serve("call_request", {{"function", pickle}}, doubles({1}));
  EXPECT_EQ(called["evalue"].get<std::string>().substr(0, 40),
            "a C++ engine calls functions by name or ");
}

TEST_F(CppValuesServe, AReferenceIsAnExpression) {
  makes_ = {"y"};
  knows("auto y", [] {});
  serve("push_request", {{"values", {{"y", {{"reference", "x + 1"}}}}}});
  EXPECT_EQ(cells_.at(0), compiled("", "auto y = (x + 1);\n"));
}

TEST_F(CppValuesServe, APullSendsExpressionsInTheirForms) {
  knows("(x);", [] {
    (cell::Giver{0}, (3));
    (cell::Giver{1}, (std::vector<double>{1, 2}));
  });
  const Json reply =
      serve("pull_request", {{"expressions", {"x", "v"}}, {"accepts", {"json", "array"}}});
  EXPECT_EQ(cells_.at(0), compiled("::px::cell::Giver{0}, (x);\n::px::cell::Giver{1}, (v);\n"));
  EXPECT_EQ(reply["values"][0], (Json{{"json", 3}}));
  EXPECT_EQ(reply["values"][1]["array"]["shape"], Json{2});
  EXPECT_EQ(result_.buffers.at(0).bytes.size(), 16u);
  serve("pull_request", {{"expressions", {"x", "v"}}});
  EXPECT_EQ(cells_.size(), 1u);
}

TEST_F(CppValuesServe, ALargeArrayThatIsCopiedByOthersIsNotCopiedBefore) {
  array_variable = px::array<double, 1>(1000);
  knows("(v)", [] { (cell::Giver{0}, array_variable); });
  interpreters::NativeRequest pull{
      "pull_request", R"({"expressions": ["v"], "accepts": ["array"]})", {}};
  const auto given = [&](std::size_t copied_from) {
    pull.copied_from = copied_from;
    result_ = values_.serve(pull);
    return static_cast<const void*>(result_.buffers.at(0).bytes.data());
  };
  EXPECT_EQ(given(8000), array_variable.data());
  array_variable = {};
  EXPECT_EQ(result_.buffers.at(0).bytes, std::string(8000, '\0'));  // it keeps them
  array_variable = px::array<double, 1>(1000);
  EXPECT_NE(given(8001), array_variable.data());
  EXPECT_NE(given(std::string::npos), array_variable.data());
  array_variable = {array_variable.data(), {500}, {2}, array_variable.owner()};
  EXPECT_NE(given(4000), array_variable.data());  // its elements lie apart
}

TEST_F(CppValuesServe, ArraysAreListsForThoseThatReadNoArrays) {
  knows("(v)", [] { (cell::Giver{0}, (std::vector<double>{1, 2.5})); });
  EXPECT_EQ(serve("pull_request", {{"expressions", {"v"}}})["values"],
            Json::parse(R"([{"json": [1.0, 2.5]}])"));
}

TEST_F(CppValuesServe, NumbersAreArraysForThoseThatReadNoJson) {
  knows("(x)", [] { (cell::Giver{0}, (true)); });
  const Json reply = serve("pull_request", {{"expressions", {"x"}}, {"accepts", {"array"}}});
  EXPECT_EQ(reply["values"][0]["array"]["dtype"], "|b1");
}

TEST_F(CppValuesServe, WhatHasNoAcceptedFormIsATypeError) {
  knows("(v)", [] { (cell::Giver{0}, (std::vector<double>{std::nan("")})); });
  const Json reply = serve("pull_request", {{"expressions", {"v"}}});
  EXPECT_EQ(reply["ename"], "TypeError");
}

TEST_F(CppValuesServe, ACompilersWordsComeBack) {
  const Json reply = serve("pull_request", {{"expressions", {"missing"}}});
  EXPECT_EQ(reply["ename"], "CompileError");
  EXPECT_EQ(reply["traceback"], Json{"unknown"});
  EXPECT_EQ(reply["status"], "error");
}

TEST_F(CppValuesServe, AFunctionIsCalledByName) {
  knows("call(1, (twice))", [] { cell::call(1, [](int x) { return 2 * x; }); });
  const Json request{{"function", {{"name", "twice"}}}, {"args", {{{"json", 4}}}}};
  EXPECT_EQ(serve("call_request", request)["value"], (Json{{"json", 8}}));
  EXPECT_EQ(serve("call_request", request)["value"], (Json{{"json", 8}}));
  EXPECT_EQ(cells_.size(), 1u);
}

TEST_F(CppValuesServe, AFunctionMayBeALambda) {
  knows("[](double x) { return x; }", [] { cell::call(1, [](double x) { return x; }); });
  serve("call_request", {{"function", {{"code", "[](double x) { return x; } // same"}}},
                         {"args", {{{"json", 4}}}}});
  EXPECT_EQ(cells_.at(0), compiled("::px::cell::call(1, ([](double x) { return x; }));\n"));
}

TEST_F(CppValuesServe, AFunctionMayComeWithItsDefinition) {
  knows("double half", [] { cell::call(1, [](double x) { return x / 2; }); });
  const Json request{{"function", {{"code", "double half(double x) { return x / 2; }"}}},
                     {"args", {{{"json", 4}}}}};
  EXPECT_EQ(serve("call_request", request)["value"], (Json{{"json", 2.0}}));
  EXPECT_EQ(cells_.at(0), compiled("::px::cell::call(1, (half));\n",
                                   "double half(double x) { return x / 2; }\n"));
  serve("call_request", request);
  EXPECT_EQ(cells_.size(), 1u);
}

TEST_F(CppValuesServe, OverloadsAreCalledWithWhatTheArgumentsAre) {
  knows("decltype(auto)", [] { cell::call(2, [](int& a, double& b) { return a + b; }); });
  const Json reply = serve("call_request", {{"function", {{"name", "sum"}}},
                                            {"args", {{{"json", 4}}, {{"json", 0.5}}}}});
  EXPECT_NE(
      cells_.at(1).find("::px::cell::call(2, [](int& px_argument_0, double& px_argument_1) -> "
                        "decltype(auto) { return (sum)(px_argument_0, px_argument_1); });"),
      std::string::npos);
  EXPECT_EQ(reply["value"], (Json{{"json", 4.5}}));
}

TEST_F(CppValuesServe, ArgumentsMayBeExpressionsOfTheEngine) {
  knows("(f)((x + 1), px_argument_1)", [] { cell::call(1, [](int& b) { return b; }); });
  const Json reply = serve("call_request", {{"function", {{"name", "f"}}},
                                            {"args", {{{"reference", "x + 1"}}, {{"json", 5}}}}});
  EXPECT_EQ(cells_.size(), 1u);
  EXPECT_EQ(reply.dump(), R"({"status":"ok","value":{"json":5}})");
}

TEST_F(CppValuesServe, AMapIsOneCell) {
  knows("map(1, (twice))", [] { cell::map(1, [](long x) { return 2 * x; }); });
  const Json reply = serve("call_request", {{"function", {{"name", "twice"}}},
                                            {"args", {{{"json", {1, 2, 3}}}}},
                                            {"map", true},
                                            {"accepts", {"json"}}});
  EXPECT_EQ(reply["value"], (Json{{"json", {2, 4, 6}}}));
}

TEST_F(CppValuesServe, ArgumentsByNameAreRefused) {
  EXPECT_EQ(serve("call_request",
                  {{"function", {{"name", "f"}}}, {"kwargs", {{"a", {{"json", 1}}}}}})["evalue"],
            "a C++ function has no keyword arguments");
}

TEST_F(CppValuesServe, ANameThatMeansSomethingElseIsCompiledAgain) {
  defined_ = {{"x", 1}};
  knows("(x)", [] { (cell::Giver{0}, (3)); });
  serve("pull_request", {{"expressions", {"x"}}});
  defined_.clear();
  serve("pull_request", {{"expressions", {"x"}}});
  EXPECT_EQ(cells_.size(), 2u);
}

TEST_F(CppValuesServe, BadRequestsHaveClearAnswers) {
  EXPECT_EQ(serve("push_request", Json::object())["ename"], "ValueError");
  EXPECT_EQ(serve("pull_request", {{"expressions", {1}}})["ename"], "ValueError");
  EXPECT_EQ(serve("call_request", {{"function", {{"code", "int x[3]"}}}})["ename"], "TypeError");
  EXPECT_EQ(values_.serve({"pull_request", "[", {}}).is_ok, false);
}

}  // namespace
}  // namespace px::cpp
