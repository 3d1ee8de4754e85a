#include "program/completion.hpp"

#include <gtest/gtest.h>

namespace px::program {
namespace {

/// A program with commands, as ours are.
std::string script(Shell shell) {
  CLI::App app{"Does things", "tool"};
  CLI::App* const start = app.add_subcommand("start", "Start it: now");
  int n = 0;
  bool is_quiet = false;
  start->add_option("-n,--count,--Class.n", n, "How many of the user's");
  start->add_option("--hidden", n, "Not shown")->group("");
  CLI::App* const profile = app.add_subcommand("profile", "Profiles");
  profile->add_subcommand("create", "Create one")->add_flag("--quiet", is_quiet, "Say nothing");
  app.add_subcommand("watch")->group("");
  return completion_script(app, shell, {{"--count", {"one", "two"}}});
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Completion, ForBashHasCommandsAndTheirOptions) {
  const std::string text = script(Shell::bash);
  EXPECT_TRUE(has(text, "\" start \"*) commands='' options='--help --count' ;;")) << text;
  EXPECT_TRUE(has(text, "\" profile create \"*) commands='' options='--help --quiet' ;;")) << text;
  EXPECT_TRUE(has(text, "*) commands='start profile' options='--help' ;;")) << text;
  EXPECT_LT(text.find("profile create \"*"), text.find("\" profile \"*"));
  EXPECT_TRUE(has(text, "complete -o default -F _tool tool\n"));
}

TEST(Completion, ForZshHasDescriptions) {
  const std::string text = script(Shell::zsh);
  EXPECT_TRUE(has(text, R"('start:Start it\: now')")) << text;
  EXPECT_TRUE(has(text, R"('--count:How many of the user'\''s')")) << text;
}

TEST(Completion, ForFishSaysWhenEachIsOffered) {
  const std::string text = script(Shell::fish);
  EXPECT_TRUE(has(text, "-n '__fish_use_subcommand' -f -a start -d 'Start it: now'\n")) << text;
  EXPECT_TRUE(
      has(text,
          "-n '__fish_seen_subcommand_from profile; and __fish_seen_subcommand_from create' "
          "-l quiet -d 'Say nothing'\n"))
      << text;
}

TEST(Completion, OffersTheValuesOfOptions) {
  EXPECT_TRUE(has(script(Shell::bash),
                  "    --count) COMPREPLY=($(compgen -W 'one two' -- \"$word\")); return ;;\n"));
  EXPECT_TRUE(has(script(Shell::zsh), "    --count) compadd -- one two; return ;;\n"));
  EXPECT_TRUE(has(script(Shell::fish), " -l count -x -a 'one two' -d 'How many of"));
}

TEST(Completion, LeavesOutWhatIsNotShown) {
  for (const Shell shell : {Shell::bash, Shell::zsh, Shell::fish}) {
    EXPECT_FALSE(has(script(shell), "hidden"));
    EXPECT_FALSE(has(script(shell), "watch"));
    EXPECT_FALSE(has(script(shell), "Class"));
  }
}

}  // namespace
}  // namespace px::program
