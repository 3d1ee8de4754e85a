#include "program/man_page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "program/command_line.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::program {
namespace {

/// A program with commands, as ours are.
struct Tool {
  CLI::App app{"Does things.", "tool"};
  CLI::App* start = app.add_subcommand("start", "Start it: now");
  CLI::App* profile = app.add_subcommand("profile", "Profiles");
  CLI::App* create = profile->add_subcommand("create", "Create one");
  int n = 3;
  bool is_quiet = false;
  std::string name;

  Tool() {
    start->add_option("-n,--count,--Class.n", n, "How many, e.g. '-n 4'\\5")->capture_default_str();
    start->add_option("--Class.trait", n, ".of another")->group("Traits");
    start->add_option("--hidden", n, "Not shown")->group("");
    start->add_flag("--quiet", is_quiet, "Say nothing");
    create->add_option("name", name, "The new one")->required();
    profile->require_subcommand(1);
    app.add_subcommand("watch", "Internal")->group("");
    app.footer("More is said elsewhere.");
    add_exit_codes(app, {{"0", "done"}, {"130", "interrupted by Ctrl-C"}});
  }
};

void expect_part(const std::string& page, const std::string& part) {
  EXPECT_NE(page.find(part), std::string::npos) << part << "\nis not in\n" << page;
}

TEST(ManPage, HasTheOptionsThatHelpShows) {
  const Tool tool;
  const std::string page = man_page({&tool.app, tool.start});
  expect_part(page, ".TH TOOL\\-START 1 ");
  expect_part(page, ".SH NAME\ntool\\-start \\- Start it: now\n");
  expect_part(page, ".SH SYNOPSIS\n\\fBtool start\\fR [\\fIoptions\\fR]\n");
  expect_part(page,
              "\\fB\\-n\\fR, \\fB\\-\\-count\\fR \\fIINT\\fR\n"
              "How many, e.g. '\\-n 4'\\e5 (default: 3)\n");
  expect_part(page, ".TP\n\\fB\\-\\-quiet\\fR\nSay nothing\n");
  EXPECT_EQ(page.find("hidden"), std::string::npos);
  EXPECT_EQ(page.find("Class.n"), std::string::npos);
}

TEST(ManPage, ShowsAnOptionWithoutAShortNameInItsGroup) {
  const Tool tool;
  expect_part(man_page({&tool.app, tool.start}),
              ".SS Traits\n.TP\n\\fB\\-\\-Class.trait\\fR \\fIINT\\fR\n\\&.of another\n");
}

TEST(ManPage, NamesTheCommandsAndTheArguments) {
  const Tool tool;
  const std::string page = man_page({&tool.app});
  expect_part(page, ".TP\n\\fBtool\\-start\\fR(1)\nStart it: now\n");
  expect_part(page, "\\fBtool\\fR [\\fIoptions\\fR] [\\fIcommand\\fR ...]\n");
  EXPECT_EQ(page.find("watch"), std::string::npos);
  expect_part(man_page({&tool.app, tool.profile}),
              "\\fBtool profile\\fR [\\fIoptions\\fR] \\fIcommand\\fR ...\n");
  const std::string create = man_page({&tool.app, tool.profile, tool.create});
  expect_part(create, "\\fBtool profile create\\fR [\\fIoptions\\fR] \\fIname\\fR\n");
  expect_part(create, ".SH ARGUMENTS\n.TP\n\\fIname\\fR\nThe new one\n");
}

TEST(ManPage, HasTheExitCodesOfTheProgramOnEachPage) {
  const Tool tool;
  const std::string codes =
      ".SH EXIT STATUS\n.TP\n\\fB0\\fR\ndone\n.TP\n\\fB130\\fR\ninterrupted by Ctrl\\-C\n.SH ";
  expect_part(man_page({&tool.app}), codes + "NOTES\nMore is said elsewhere.\n");
  expect_part(man_page({&tool.app, tool.start}), codes + "SEE ALSO");
  expect_part(tool.app.help(), "Exit codes:\n  0    done\n  130  interrupted by Ctrl-C\n");
}

TEST(ManPage, OfEachCommandIsAFile) {
  const os::TemporaryFolder folder;
  Tool tool;
  const std::string option = "--man-pages=" + (folder.path() / "man").string();
  const std::vector<const char*> words{"tool", option.c_str()};
  EXPECT_EQ(parse_command_line(tool.app, 2, words.data()), 0);
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() / "man"))
    names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"tool.1", "tool-start.1", "tool-profile.1",
                                          "tool-profile-create.1"}));
  std::stringstream text;
  text << std::ifstream(folder.path() / "man" / "tool-start.1").rdbuf();
  EXPECT_EQ(text.str(), man_page({&tool.app, tool.start}));
}

TEST(ManPage, ThatCannotBeWrittenIsAnError) {
  Tool tool;
  const std::vector<const char*> words{"tool", "--man-pages=/dev/null/man"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(parse_command_line(tool.app, 2, words.data()), 1);
  expect_part(testing::internal::GetCapturedStderr(), "tool: error: cannot make /dev/null/man: ");
}

}  // namespace
}  // namespace px::program
