#include "kernel/options.hpp"

#include <gtest/gtest.h>

#include "tests/program/typos.hpp"

namespace px::kernel {
namespace {

program::Answer answer(const std::vector<std::string>& words) {
  return program::answer_of(words, [](int argc, const char* const* argv) {
    KernelOptions options;
    return parse_options(argc, argv, options);
  });
}

TEST(KernelOptions, AreSuggestedForTheirMisspellings) {
  EXPECT_GT(program::expect_suggestions(answer, {"pxkernel"}), 20);
  for (const char* command : {"install", "uninstall"})
    EXPECT_GT(program::expect_suggestions(answer, {"pxkernel", command}), 10);
}

TEST(KernelOptions, OfIPythonArePassedOn) {
  KernelOptions options;
  const char* const argv[] = {"pxkernel", "-f", "x.json", "--InteractiveShell.xmode=Plain",
                              "--debug"};
  EXPECT_EQ(parse_options(5, argv, options), std::nullopt);
  EXPECT_EQ(options.others,
            (std::vector<std::string>{"--InteractiveShell.xmode=Plain", "--debug"}));
}

TEST(KernelOptions, ACommandThatIsMisspelledIsNamed) {
  EXPECT_EQ(answer({"pxkernel", "instal"}).err,
            "pxkernel: error: unknown command 'instal'; did you mean install?\n");
  EXPECT_EQ(answer({"pxkernel"}).code, 2);
}

}  // namespace
}  // namespace px::kernel
