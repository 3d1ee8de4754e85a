#include "engine/options.hpp"

#include <gtest/gtest.h>

#include "program/command_line.hpp"
#include "tests/program/typos.hpp"

namespace px::engine {
namespace {

program::Answer answer(const std::vector<std::string>& words) {
  return program::answer_of(words, [](int argc, const char* const* argv) {
    EngineOptions options;
    CLI::App app{"", "pxengine"};
    return parse_options(app, options, argc, argv);
  });
}

TEST(Options, AreSuggestedForTheirMisspellings) {
  EXPECT_GT(program::expect_suggestions(answer, {"pxengine"}), 100);
}

TEST(Options, OfIpengineWithoutEffectAreAccepted) {
  EngineOptions options;
  CLI::App app{"", "pxengine"};
  const char* const argv[] = {"pxengine",    "--IPEngine.init_mpi=x",        "--url", "tcp://x:1",
                              "--timeout=7", "--IPEngine.enable_nanny=False"};
  EXPECT_EQ(parse_options(app, options, 6, argv), std::nullopt);
  EXPECT_EQ(options.timeout_s, 7);
  EXPECT_EQ(program::options_without_effect(app),
            (std::vector<std::string>{"--IPEngine.init_mpi", "--url", "--IPEngine.enable_nanny"}));
}

TEST(Options, SayWhatANumberMustBe) {
  EXPECT_EQ(answer({"pxengine", "--timeout=soon"}).err,
            "pxengine: error: --timeout takes a number of seconds, not 'soon'\n");
}

}  // namespace
}  // namespace px::engine
