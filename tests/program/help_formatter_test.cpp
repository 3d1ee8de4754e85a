#include "program/help_formatter.hpp"

#include <gtest/gtest.h>

namespace px::program {
namespace {

TEST(HelpFormatter, LinesThatAreTooLongGoOnBelowTheirSecondColumn) {
  EXPECT_EQ(wrap_help("  --name TEXT   one two three four\n\nshort\n", 24),
            "  --name TEXT   one two\n                three\n                four\n\nshort\n");
  EXPECT_EQ(wrap_help("                one two three", 24),
            "                one two\n                three");
  EXPECT_EQ(wrap_help("one two three", 8), "one two\nthree");
}

TEST(HelpFormatter, AWordThatIsTooLongStaysWhole) {
  EXPECT_EQ(wrap_help("  --a-very-long-name TEXT", 10), "  --a-very-long-name TEXT");
  EXPECT_EQ(wrap_help("  -n  averylongword two", 10), "  -n  averylongword two");
}

TEST(HelpFormatter, LeavesOutTheNamesOfIpyparallel) {
  CLI::App app{"Does things", "tool"};
  app.formatter(std::make_shared<HelpFormatter>());
  int n = 0;
  bool is_on = true;
  app.add_option("-n,--count,--Class.n", n, "How many");
  app.add_option("--Class.only", n, "Only theirs");
  app.add_option("-c,--Class.code", n, "Theirs, with a letter");
  app.add_flag("--on,!--no-on,--Class.on", is_on, "On");
  const std::string help = app.help();
  EXPECT_NE(help.find("  -n,--count INT "), std::string::npos) << help;
  EXPECT_NE(help.find("  --on,--no-on "), std::string::npos) << help;
  EXPECT_EQ(help.find("Class.n"), std::string::npos);
  EXPECT_NE(help.find("Class.only"), std::string::npos);
  EXPECT_NE(help.find("  -c,--Class.code INT "), std::string::npos) << help;
}

}  // namespace
}  // namespace px::program
