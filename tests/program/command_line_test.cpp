#include "program/command_line.hpp"

#include <gtest/gtest.h>

#include "program/value_checks.hpp"
#include "tests/program/typos.hpp"
#include "wire/json.hpp"

namespace px::program {
namespace {

/// A program with two commands, one with an argument.
struct Tool {
  CLI::App app{"a tool", "tool"};
  std::string engines, language, name;
  int n = 0;
  double delay = 0;
  bool is_daemon = false, is_clean = true;

  Tool() {
    app.require_subcommand(1);
    CLI::App& start = *app.add_subcommand("start", "Start");
    start.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    start.add_option("--engines,--Cluster.engine_launcher_class", engines, "How");
    start.add_option("-n,--n", n, "How many")->check(whole_number(" of engines", 0, 65536));
    start.add_option("--delay", delay, "Pause")->check(number_of("seconds"));
    start.add_option("--language", language, "Which")->check(one_of({"python", "cpp"}));
    start.add_flag("--daemonize", is_daemon, "In the background");
    start.add_flag("--clean-logs,!--no-clean-logs", is_clean, "Clean");
    start.add_option("--secret", "")->group("");
    CLI::App& create = *app.add_subcommand("create", "Create");
    create.add_option("name", name, "The name")->required();
    create.add_flag("--json", is_daemon, "JSON");
    app.add_subcommand("watch", "")->group("");
  }

  Answer ask(std::vector<std::string> words, const AcceptedWords& accepted = {}) {
    words.insert(words.begin(), "tool");
    return answer_of(words, [&](int argc, const char* const* argv) {
      return parse_command_line(app, argc, argv, accepted);
    });
  }
};

/// The sentence, without "tool: error: " and the end of the line; empty: the line is understood.
std::string complaint(const std::vector<std::string>& words, const AcceptedWords& accepted = {}) {
  const Answer answer = Tool{}.ask(words, accepted);
  if (!answer.code) return "";
  EXPECT_EQ(answer.code, exit_usage);
  EXPECT_EQ(answer.out, "");
  EXPECT_TRUE(answer.err.starts_with("tool: error: ")) << answer.err;
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  return answer.err.substr(13, answer.err.size() - 14);
}

TEST(CommandLine, NamesTheOptionThatWasMeant) {
  EXPECT_EQ(complaint({"start", "--engine=mpi", "-n", "2"}),
            "unknown option --engine; did you mean --engines?");
  EXPECT_EQ(complaint({"start", "--daemonise"}),
            "unknown option --daemonise; did you mean --daemonize?");
  EXPECT_EQ(complaint({"start", "--hlep"}), "unknown option --hlep; did you mean --help?");
  EXPECT_EQ(complaint({"start", "-engines", "mpi"}),
            "unknown option -engines; did you mean --engines?");
  EXPECT_EQ(complaint({"start", "---engines"}),
            "unknown option ---engines; did you mean --engines?");
}

TEST(CommandLine, NamesTheHelpWhereNothingIsNear) {
  EXPECT_EQ(complaint({"start", "--frobnicate"}),
            "unknown option --frobnicate; `tool start --help` lists the options");
  EXPECT_EQ(complaint({"start", "-x"}), "unknown option -x; `tool start --help` lists the options");
  EXPECT_EQ(complaint({"frobnicate"}),
            "unknown command 'frobnicate'; `tool --help` lists the commands");
}

TEST(CommandLine, DoesNotSuggestWhatIsHidden) {
  EXPECT_EQ(complaint({"start", "--secre"}),
            "unknown option --secre; `tool start --help` lists the options");
  EXPECT_EQ(complaint({"wach"}), "unknown command 'wach'; `tool --help` lists the commands");
}

TEST(CommandLine, KeepsValuesOutOfTheSentence) {
  EXPECT_EQ(complaint({"start", "--engine=a secret"}),
            "unknown option --engine; did you mean --engines?");
}

TEST(CommandLine, FindsAnOptionBeforeItsCommand) {
  EXPECT_EQ(complaint({"--engines=mpi", "start"}),
            "unknown option --engines; did you mean `tool start --engines`?");
}

TEST(CommandLine, KnowsTheTraitOfAnotherClass) {
  EXPECT_EQ(complaint({"start", "--IPClusterStart.clean_logs=1"}),
            "unknown option --IPClusterStart.clean_logs; did you mean --clean-logs?");
}

TEST(CommandLine, NamesTheCommandThatWasMeant) {
  EXPECT_EQ(complaint({"strat", "-n", "2"}), "unknown command 'strat'; did you mean start?");
  EXPECT_EQ(complaint({}), "`tool` needs a command: start, create");
}

TEST(CommandLine, RefusesWordsTooMany) {
  EXPECT_EQ(complaint({"start", "4"}), "`tool start` takes no argument '4'; did you mean -n 4?");
  EXPECT_EQ(complaint({"start", "daemonize"}),
            "`tool start` takes no argument 'daemonize'; did you mean --daemonize?");
  EXPECT_EQ(complaint({"start", "something"}),
            "`tool start` takes no argument 'something'; `tool start --help` lists the options");
  EXPECT_EQ(complaint({"create", "a", "b"}),
            "`tool create` takes no further argument 'b'; put an argument that contains blanks in "
            "quotes");
}

TEST(CommandLine, SaysWhatAValueMustBe) {
  EXPECT_EQ(complaint({"start", "-n", "abc"}),
            "-n takes a whole number of engines from 0 to 65536, not 'abc'");
  EXPECT_EQ(complaint({"start", "--n=70000"}),
            "-n takes a whole number of engines from 0 to 65536, not '70000'");
  EXPECT_EQ(complaint({"start", "-n", "2.5"}),
            "-n takes a whole number of engines from 0 to 65536, not '2.5'");
  EXPECT_EQ(complaint({"start", "--delay=soon"}), "--delay takes a number of seconds, not 'soon'");
  EXPECT_EQ(complaint({"start", "--delay=-1"}), "--delay takes a number of seconds, not '-1'");
  EXPECT_EQ(complaint({"start", "--delay=inf"}), "--delay takes a number of seconds, not 'inf'");
  EXPECT_EQ(complaint({"start", "--language=pyton"}),
            "--language takes python or cpp, not 'pyton'; did you mean python?");
  EXPECT_EQ(complaint({"start", "--clean-logs=Flase"}), "--clean-logs cannot be 'Flase'");
  EXPECT_EQ(complaint({"start", "--delay"}), "--delay needs a value");
  EXPECT_EQ(complaint({"create"}), "`tool create` needs the argument name");
}

TEST(CommandLine, FindsTheMisspelledOptionBeforeAWrongValue) {
  EXPECT_EQ(complaint({"start", "-n", "abc", "--daemonise"}),
            "unknown option --daemonise; did you mean --daemonize?");
}

TEST(CommandLine, GoesOnWithWhatItUnderstands) {
  Tool tool;
  EXPECT_EQ(tool.ask({"start", "-n4", "--engines", "mpi", "--delay=0.5", "--language=CPP"}).code,
            std::nullopt);
  EXPECT_EQ(tool.n, 4);
  EXPECT_EQ(tool.engines, "mpi");
  EXPECT_EQ(tool.delay, 0.5);
}

TEST(CommandLine, PrintsHelpEvenBesideAMistake) {
  const Answer answer = Tool{}.ask({"start", "--help", "--daemonise"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_NE(answer.out.find("--daemonize"), std::string::npos);
}

TEST(CommandLine, WithJsonWritesTheErrorToStdoutToo) {
  const Answer answer = Tool{}.ask({"create", "--json", "--nam=x", "y"});
  EXPECT_EQ(answer.code, exit_usage);
  EXPECT_EQ(Json::parse(answer.out), Json::parse(R"({"error": {"ename": "bad_input", "evalue":
                "unknown option --nam; `tool create --help` lists the options"}})"));
  EXPECT_NE(answer.err.find("unknown option --nam"), std::string::npos);
}

const AcceptedWords ipcluster{IpyparallelProgram::ipcluster, {}};

TEST(OptionsOfIpyparallel, AreAcceptedWithoutEffect) {
  Tool tool;
  const Answer answer =
      tool.ask({"start", "--Cluster.load_profile=x", "--log-url", "tcp://x", "--init", "-n", "3"},
               ipcluster);
  EXPECT_EQ(answer.code, std::nullopt) << answer.err;
  EXPECT_EQ(tool.n, 3);
  EXPECT_EQ(options_without_effect(tool.app),
            (std::vector<std::string>{"--Cluster.load_profile", "--log-url", "--init"}));
  EXPECT_EQ(warning_of_options_without_effect(tool.app),
            "options of ipyparallel that have no effect here: --Cluster.load_profile, --log-url, "
            "--init");
}

TEST(OptionsOfIpyparallel, TakeTheirValueFromTheNextWord) {
  Tool tool;
  EXPECT_EQ(
      tool.ask({"create", "--BaseIPythonApplication.auto_create", "True", "a"}, ipcluster).code,
      std::nullopt);
  EXPECT_EQ(tool.name, "a");
}

TEST(OptionsOfIpyparallel, DoNotHideOurOwn) {
  Tool tool;
  EXPECT_EQ(tool.ask({"start", "--Cluster.engine_launcher_class=mpi"}, ipcluster).code,
            std::nullopt);
  EXPECT_EQ(tool.engines, "mpi");
  EXPECT_EQ(warning_of_options_without_effect(tool.app), "");
}

TEST(OptionsOfIpyparallel, AreRefusedWhereTheyAreMisspelledOrAnothers) {
  EXPECT_NE(complaint({"start", "--Cluster.load_profil=x"}, ipcluster), "");
  EXPECT_NE(complaint({"start", "--Colour.red=1"}, ipcluster), "");
  EXPECT_NE(complaint({"start", "--usethreads"}, ipcluster), "");
  EXPECT_NE(complaint({"start", "--log-url=x"}), "");
}

TEST(OptionsOfIpyparallel, AreInOneTable) {
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcluster, "MPIEngineSetLauncher.mpi_cmd"),
            PeerOption::value);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcontroller, "Session.unpacker"),
            PeerOption::value);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipengine, "IPEngine.init_mpi"), PeerOption::value);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipengine, "InteractiveShell.xmode"),
            PeerOption::value);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcontroller, "usethreads"), PeerOption::flag);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcluster, "usethreads"), PeerOption::unknown);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcluster, "IPCluster.frobnicate"),
            PeerOption::unknown);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcluster, "Session."), PeerOption::unknown);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::ipcluster, ".key"), PeerOption::unknown);
  EXPECT_EQ(option_of_peer(IpyparallelProgram::none, "Session.key"), PeerOption::unknown);
}

TEST(CommandLine, LeavesWhatIsPassedOn) {
  Tool tool;
  AcceptedWords accepted;
  accepted.is_passed_on = [](std::string_view word) { return word.starts_with("--Inter"); };
  EXPECT_EQ(tool.ask({"start", "--InteractiveShell.xmode=Plain"}, accepted).code, std::nullopt);
  EXPECT_EQ(tool.app.remaining(true), std::vector<std::string>{"--InteractiveShell.xmode=Plain"});
}

TEST(CommandLine, SuggestsEachOptionForItsMisspellings) {
  const auto ask = [](const std::vector<std::string>& words) { return Tool{}.ask(words); };
  EXPECT_GT(expect_suggestions(ask, {"start"}), 20);
}

}  // namespace
}  // namespace px::program
