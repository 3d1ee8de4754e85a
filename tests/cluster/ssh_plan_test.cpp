#include <gtest/gtest.h>

#include "cluster/remote/ssh_plan.hpp"
#include "os/run_command.hpp"

namespace px::cluster {
namespace {

SshHostPlan two_engines() {
  SshHostPlan plan;
  plan.host = "ann@host2";
  plan.run_name = "engines-17-0";
  plan.profile_dir = ".ipython/profile_default";
  plan.environment = {{"NAME", "it's"}};
  plan.engines = {{"/opt/px/bin/pxengine"}, {"/opt/px/bin/pxengine", "--language=cpp"}};
  plan.may_find_program = true;
  plan.control_path = "/tmp/px-1/c";
  return plan;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether a POSIX shell can read it.
bool is_shell(const std::string& script) {
  const auto output =
      os::run_command({.argv = {"sh", "-n"}, .input = script, .timeout = std::chrono::seconds(10)});
  return output && !output->end.is_failure();
}

TEST(SshPlan, QuotesAnythingForAShell) {
  EXPECT_EQ(shell_quoted("a b"), "'a b'");
  EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(SshPlan, TravelsAsJson) {
  const auto back = read_ssh_host_plan(write_ssh_host_plan(two_engines()));
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, two_engines());
  EXPECT_FALSE(read_ssh_host_plan(Json::object()));
}

TEST(SshPlan, AsksNothingNoticesABrokenConnectionAndSharesOne) {
  const auto argv = ssh_argv(two_engines(), false);
  std::string line;
  for (const std::string& word : argv) line += word + " ";
  for (const char* part : {"BatchMode=yes", "ServerAliveInterval=5", "ControlMaster=auto",
                           "ControlPath=/tmp/px-1/c", "-- ann@host2 exec sh -s"})
    EXPECT_TRUE(has(line, part)) << part;
}

TEST(SshPlan, LeadsPortsOfTheOtherHostBackWhereEnginesNeedThat) {
  std::string line;
  for (const std::string& word : ssh_argv(two_engines(), false, {{20001, "127.0.0.1", 5001}}))
    line += word + " ";
  EXPECT_TRUE(has(line, "-o ExitOnForwardFailure=yes -R 127.0.0.1:20001:127.0.0.1:5001 ")) << line;
  for (const std::string& word : ssh_argv(two_engines(), false)) EXPECT_NE(word, "-R");
}

TEST(SshPlan, LetsTheUsersOwnSshArgumentsWin) {
  SshHostPlan plan = two_engines();
  plan.ssh_cmd = {"ssh", "-o", "ConnectTimeout=2"};
  const auto argv = ssh_argv(plan, false);
  EXPECT_EQ(argv[2], "ConnectTimeout=2");
}

TEST(SshPlan, TellsEachEngineWhichOneOfItsSetItIs) {
  SshHostPlan plan = two_engines();
  plan.first_engine = 4;
  const std::string script = ssh_start_script(plan, "{}");
  EXPECT_TRUE(has(script, "export PX_ENGINE_NUMBER='4'\nlaunch 0 "));
  EXPECT_TRUE(has(script, "export PX_ENGINE_NUMBER='5'\nlaunch 1 "));
}

TEST(SshPlan, NoKeyIsOnACommandLineOrInAFileOfTheOtherHost) {
  const std::string script = ssh_start_script(two_engines(), R"({"key": "it's secret"})");
  EXPECT_TRUE(has(script, R"(export IPP_CONNECTION_INFO='{"key": "it'\''s secret"}')"));
  for (const std::string& word : ssh_argv(two_engines(), false)) EXPECT_FALSE(has(word, "secret"));
}

TEST(SshPlan, TakesThisComputersPythonWhereTheOtherHasItToo) {
  SshHostPlan plan = two_engines();
  plan.python_homes = {{"VIRTUAL_ENV", "/opt/venv"}};
  EXPECT_TRUE(has(ssh_start_script(plan, "{}"),
                  "[ -n \"$VIRTUAL_ENV\" ] || [ ! -d '/opt/venv' ] || export "
                  "VIRTUAL_ENV='/opt/venv'\n"));
}

TEST(SshPlan, AllScriptsAreOnesThatAPosixShellCanRead) {
  SshHostPlan plan = two_engines();
  plan.setup = {"module load x"};
  EXPECT_TRUE(is_shell(ssh_start_script(plan, "{}")));
  EXPECT_TRUE(is_shell(ssh_watch_script(plan)));
  EXPECT_TRUE(is_shell(ssh_stop_script(plan)));
  EXPECT_TRUE(is_shell(ssh_signal_script(plan, "USR1")));
  EXPECT_TRUE(is_shell(ssh_log_script(plan, 10, false)));
  EXPECT_TRUE(is_shell(ssh_log_script(plan, 10, true)));
}

TEST(SshPlan, StartsEachEngineByItsOwnCommandLine) {
  const std::string script = ssh_start_script(two_engines(), "{}");
  EXPECT_TRUE(has(script, "export PX_ENGINE_NUMBER='0'\nlaunch 0 \"$program\"\n"));
  EXPECT_TRUE(has(script, "launch 1 \"$program\" '--language=cpp'\n"));
}

TEST(SshPlan, ReadsWhatTheScriptsSayAndNothingElse) {
  const SshLine ended = read_ssh_line("px:ended 3 137");
  EXPECT_EQ(ended.kind, LineKind::ended);
  EXPECT_EQ(ended.engine, 3);
  EXPECT_EQ(ended.text, "137");
  EXPECT_EQ(read_ssh_line("px:failed no such folder").text, "no such folder");
  EXPECT_EQ(read_ssh_line("px:log 0 ").text, "");
  for (const char* noise : {"Welcome to host2!", "px:ended x 1", "px:ended -1 1", "px:what", ""})
    EXPECT_EQ(read_ssh_line(noise).kind, LineKind::noise) << noise;
}

}  // namespace
}  // namespace px::cluster
