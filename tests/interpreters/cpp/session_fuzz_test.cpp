// A long session of random cells against a model of what must be defined. PX_SESSION_FUZZ_CELLS and
// PX_SESSION_FUZZ_SEED make it longer, or another one;
// PX_SESSION_FUZZ_LOG prints the cells; PX_SESSION_FUZZ_TIMES what each hundred of them has cost.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <random>

#include "tests/interpreters/cpp/fuzzed_definitions.hpp"
#include "tests/interpreters/cpp/sessions.hpp"

namespace px::cpp {
namespace {

using Kind = CellOutcome::Ending;

int number_from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

/// Makes cells, and knows what an expression must be worth after them.
class SessionFuzz : public NotebookTest {
 protected:
  void SetUp() override {
    CppSession::handle_interrupts();
    runs(fuzzed_headers);
    runs(fuzzed_helpers);
  }

  int pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string name() { return "n" + std::to_string(pick(12)); }

  /// What a name means now: an expression, and what it is worth.
  struct Meaning {
    std::string name, code, expression;
    double worth;
    const FuzzedDefinition* kind;
    std::string inner;
  };
  Meaning meaning(const std::string& n, const FuzzedDefinition& kind, const std::string& inner,
                  std::string_view code) {
    const int number = pick(1000) - 500;
    return {n, filled(code, n, number, inner), filled(kind.expression, n, number, inner),
            number + kind.more, &kind, inner};
  }
  Meaning define(const std::string& n) {
    const auto& kind = fuzzed_definitions[random_() % fuzzed_definitions.size()];
    return meaning(n, kind, n + "_inner" + std::to_string(++inner_count_), kind.code);
  }

  void expect(const CellOutcome& outcome, Kind kind, const std::string& code) {
    if (std::getenv("PX_SESSION_FUZZ_LOG")) std::fprintf(stderr, "%s\n", code.c_str());
    EXPECT_EQ(outcome.kind, kind) << code << "\n" << said(outcome);
  }

  void good_cell() {
    std::string code;
    const Meaning first = define(name()), second = define(name());
    code = first.code;
    if (second.name != first.name && pick(2)) code += "\n" + second.code;
    expect(run(code), Kind::ok, code);
    model_[first.name] = first;
    if (code != first.code) model_[second.name] = second;
  }

  /// A part of an earlier cell, changed.
  void cell_again() {
    for (auto& [n, known] : model_) {
      if (known.kind->again.empty() || pick(2)) continue;
      known = meaning(n, *known.kind, known.inner, known.kind->again);
      return expect(run(known.code), Kind::ok, known.code);
    }
  }

  void rejected_cell() {
    static const std::vector<std::string> mistakes = {"int broken( { ;",
                                                      "int broken = \"text\";",
                                                      "broken();",
                                                      "same(undeclared);",
                                                      "} ;",
                                                      "#error no\n",
                                                      "static_assert(sizeof(int) == 1);",
                                                      "int unlinked(int); int u = unlinked(1);",
                                                      "#include <no/such/header>\n",
                                                      "struct Half { Half h; };",
                                                      "Box<void> box;"};
    const std::string mistake = mistakes[static_cast<std::size_t>(pick(int(mistakes.size())))];
    const std::string use =
        "{ px_reported = same<" + std::string(pick(2) ? "float" : "short") + ">(3); }";
    const std::string header =
        pick(4) ? "" : "#include <" + std::string(pick(2) ? "array" : "utility") + ">\n";
    const std::string code = header + define(name()).code + "\n" + use + "\n" + mistake;
    expect(run(code), Kind::compile_error, code);
  }

  void failing_cell(const std::string& failure, Kind kind) {
    const Meaning definition = define(name());
    const std::string code = definition.code + "\n" + failure;
    expect(run(code), kind, code);
    model_[definition.name] = definition;
  }

  void random_cell() {
    if (std::getenv("PX_SESSION_FUZZ_LOG")) std::fprintf(stderr, "-----\n");
    switch (pick(14)) {
      case 12:
        return cell_again();
      case 13:
        return failing_cell("{ Box<int> b(1); std::raise(SIGINT); for (;;) {} }",
                            Kind::interrupted);
      case 10:
        return failing_cell(
            "{ std::thread t([] { Box<int> b(1); throw Box<int>(4); }); t.join(); }",
            Kind::exception);
      case 11:
        if (pick(2))
          return failing_cell("{ std::jthread t([] { throw 1; }); for (;;) {} }", Kind::exception);
        return failing_cell(
            "{ std::thread t([] { volatile int* p = nullptr; *p = 1; }); t.join(); }",
            Kind::crashed);
      case 0:
      case 1:
      case 2:
      case 3:
        return good_cell();
      case 4:
      case 5:
        return rejected_cell();
      case 6:
        return failing_cell("throw 3;", Kind::exception);
      case 7:
        return failing_cell("{ Box<int> b(1); same(2); throw Box<int>(4); }", Kind::exception);
      case 8:
        return failing_cell("{ volatile int* p = nullptr; *p = 1; }", Kind::crashed);
      default:
        return failing_cell(pick(2) ? "px_reported = descend(0);"
                                    : "{ volatile int z = 0; px_reported = 100 / z; }",
                            Kind::crashed);
    }
  }

  void look_at_one() {
    if (model_.empty()) return;
    const Meaning& one = std::next(model_.begin(), pick(int(model_.size())))->second;
    EXPECT_EQ(value(one.expression), one.worth) << one.name << ": " << one.code;
  }
  void look_at_all() {
    for (int i = 0; i < 12; ++i) {
      const std::string n = "n" + std::to_string(i);
      EXPECT_EQ(session().is_defined(n), model_.count(n) == 1) << n;
    }
    EXPECT_FALSE(session().is_defined("broken") || session().is_defined("Half"));
    std::string code;  // one cell for all: each costs the time of a compiler
    for (const auto& [n, known] : model_)
      code += "px_reported = " + n.substr(1) + "; if ((double)(" + known.expression +
              ") != " + std::to_string(known.worth) + ") throw px_reported;\n";
    const CellOutcome outcome = run(code);
    EXPECT_TRUE(outcome.is_ok()) << "n" << reported << "\n" << code << said(outcome);
  }

  void seed(unsigned number) { random_.seed(number); }

 private:
  int inner_count_ = 0;
  std::mt19937 random_;
  std::map<std::string, Meaning> model_;
};

TEST_F(SessionFuzz, KeepsWhatTheModelSays) {
  const int cells = number_from_environment("PX_SESSION_FUZZ_CELLS", 200);
  const int seed_number = number_from_environment("PX_SESSION_FUZZ_SEED", 1);
  seed(static_cast<unsigned>(seed_number));
  auto begun = std::chrono::steady_clock::now();
  for (int cell = 0; cell < cells && !HasFailure(); ++cell) {
    if (cell % 100 == 0 && std::getenv("PX_SESSION_FUZZ_TIMES")) {
      const auto now = std::chrono::steady_clock::now();
      long pages = 0, resident = 0;
      std::ifstream("/proc/self/statm") >> pages >> resident;
      std::ifstream maps("/proc/self/maps");
      const auto lines = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
      const double ms = std::chrono::duration<double, std::milli>(now - begun).count();
      std::fprintf(stderr, "%d cells, %.1f ms each, %ld MB, %ld mappings\n", cell, ms / 100,
                   resident / 256, static_cast<long>(lines));
      begun = now;
    }
    SCOPED_TRACE("seed " + std::to_string(seed_number) + ", cell " + std::to_string(cell));
    random_cell();
    look_at_one();
    if (cell % 20 == 19) look_at_all();
  }
  look_at_all();
}

}  // namespace
}  // namespace px::cpp
