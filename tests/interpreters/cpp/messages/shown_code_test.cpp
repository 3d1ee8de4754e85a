// The lines of code that the compiler shows are those of the user's cell.
#include "interpreters/cpp/messages/shown_code.hpp"

#include "tests/interpreters/cpp/other_kernels/notebook.hpp"

namespace px::cpp {
namespace {

TEST(ShownCode, EndsWhereAnInsertionBegins) {
  EXPECT_EQ(without_insertions("cell 1:1:2: warning: w\n"
                               "    1 | 1/0/*px*/);\n"
                               "      |  ^~\n"),
            "cell 1:1:2: warning: w\n"
            "    1 | 1/0\n"
            "      |  ^~\n");
  EXPECT_EQ(without_insertions("    1 | x == 3; \x1b[0;33m/*px*/::px::cell::Shower{}, (\x1b[0m\n"
                               "      | \x1b[0;1;32m~~^~~~   ~~~~~~~\n"
                               "\x1b[0m"),
            "    1 | x == 3; \n"
            "      | \x1b[0;1;32m~~^~~~  \n"
            "\x1b[0m\n");
}

TEST(ShownCode, HasTheLineNumbersOfTheCell) {
  EXPECT_EQ(without_insertions("    7 | /*px*/::px::cell::Shower{}, (\n"
                               "      | ~~~~\n"
                               "    8 | #line 7\n"
                               "    9 | (x\n"
                               "      |  ~\n"
                               "   10 |  == 3)/*px*/);\n"
                               "      |  ^~\n"),
            "    7 | (x\n"
            "      |  ~\n"
            "    8 |  == 3)\n"
            "      |  ^~\n");
}

TEST(ShownCode, MayBePointedToBehindItsEnd) {
  EXPECT_EQ(without_insertions("    1 | x +/*px*/);\n      |          ^\n"),
            "    1 | x +\n      |    ^\n");
  EXPECT_EQ(without_insertions("    1 | f(x);\n      |      ^\n"),
            "    1 | f(x);\n      |      ^\n");
}

class ShownCodeOfCells : public Notebook {
 protected:
  std::string warning(const std::string& code) {
    EXPECT_EQ(run(code)["status"], "ok") << code;
    return heard_->warned;
  }
};

TEST_F(ShownCodeOfCells, HasNothingThatIsNotInTheCell) {
  const std::string first = warning("int zero = 1; 1/0");
  EXPECT_NE(first.find("    1 |               1/0\n      |                ^~\n"), first.npos)
      << heard_->warned;
  EXPECT_NE(warning("zero == 3; abs(-2)").find("    1 | zero == 3; \n      | ~~~~~^~~~\n"),
            std::string::npos)
      << heard_->warned;
  EXPECT_NE(warning("(zero\n ==\n 3), 1/0").find("    3 |  3), 1/0\n"), std::string::npos)
      << heard_->warned;
  for (const char* const code :
       {"zero == 3; abs(-2)", "\"a\" == \"b\"", "printf(\"%d\", 3.5)", "1 << 40",
        "[](int n) { return n / 0; }(3)", "%time 1/0",
        "%timeit -n 1 -r 1 int a = 1 << 40; a / 0; 1/0", "zero,\n(zero\n==\n3),\n1/0", "#if 1\n1/0\n#endif"}) {
    const std::string said = warning(code);
    EXPECT_NE(said, "") << code;
    for (const char* const internal : {"px", "Shower", "Keeper", "#line", ");\n", "}"})
      if (std::string(code).find(internal) == std::string::npos) {
        EXPECT_EQ(said.find(internal), std::string::npos) << code << "\n" << said;
      }
  }
}

TEST_F(ShownCodeOfCells, OfExpressionsThatAFrontEndAsksFor) {
  interpreters::Execution execution;
  execution.user_expressions = {{"a", "std::sin"}, {"b", "undeclared + 1"}};
  const std::string answer = cells_->execute(execution).dump();
  EXPECT_EQ(answer.find("Shower"), std::string::npos) << answer;
  EXPECT_NE(answer.find("undeclared"), std::string::npos) << answer;
}

}  // namespace
}  // namespace px::cpp
