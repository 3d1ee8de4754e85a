#include "program/program.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "program/command_line.hpp"
#include "tests/os/temporary_folder.hpp"

namespace px::program {
namespace {

/// A program with the shared options, and one of its own.
struct Program {
  CLI::App app{"a program"};
  ProgramOptions options;
  int count = 0;
  bool is_reused = false;
  std::string output, complaints;

  Program() {
    add_program_options(app, options);
    app.add_option("-n,--n", count, "How many");
    app.add_flag("--reuse", is_reused, "Reuse");
  }

  std::optional<int> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "program");
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const auto code = parse_command_line(app, static_cast<int>(arguments.size()), arguments.data());
    output = ::testing::internal::GetCapturedStdout();
    complaints = ::testing::internal::GetCapturedStderr();
    return code;
  }
};

TEST(ProgramOptions, HaveDefaults) {
  Program program;
  EXPECT_EQ(program.parse({}), std::nullopt);
  EXPECT_EQ(program.options.log_level, "INFO");
  EXPECT_FALSE(program.options.profile.has_cluster_id);
}

TEST(ProgramOptions, TakeAValueBehindASpaceOrAnEqualsSign) {
  Program program;
  EXPECT_EQ(program.parse({"--profile=mpi", "--cluster-id", "c1", "-n", "4", "--reuse"}),
            std::nullopt);
  EXPECT_EQ(program.options.profile.profile, "mpi");
  EXPECT_EQ(program.options.profile.cluster_id, "c1");
  EXPECT_TRUE(program.options.profile.has_cluster_id);
  EXPECT_EQ(program.count, 4);
  EXPECT_TRUE(program.is_reused);
}

TEST(ProgramOptions, TakeAnEmptyClusterId) {
  Program program;
  EXPECT_EQ(program.parse({"--cluster-id=", "--profile=", "-n4"}), std::nullopt);
  EXPECT_TRUE(program.options.profile.has_cluster_id);
  EXPECT_EQ(program.options.profile.cluster_id, "");
  EXPECT_EQ(program.count, 4);
}

TEST(ProgramOptions, TakeTheLastOfSeveral) {
  Program program;
  EXPECT_EQ(program.parse({"--profile=a", "--profile=b", "--reuse", "--reuse"}), std::nullopt);
  EXPECT_EQ(program.options.profile.profile, "b");
}

TEST(ProgramOptions, KnowTheLongNamesOfTheReference) {
  Program program;
  EXPECT_EQ(program.parse({"--ProfileDir.location=/x", "--Application.log_level=10",
                           "--BaseIPythonApplication.profile=p",
                           "--BaseParallelApplication.cluster_id=c"}),
            std::nullopt);
  EXPECT_EQ(program.options.profile.profile, "p");
  EXPECT_EQ(program.options.profile.cluster_id, "c");
  EXPECT_EQ(program.options.profile.profile_dir, "/x");
  EXPECT_EQ(program.options.log_level, "10");
}

TEST(ProgramOptions, PrintTheBareVersion) {
  Program program;
  EXPECT_EQ(program.parse({"--version"}), 0);
  EXPECT_EQ(program.output.find_first_not_of("0123456789.\n"), std::string::npos);
  EXPECT_GT(program.output.size(), 4u);
}

TEST(ProgramOptions, PrintHelp) {
  for (const char* option : {"--help", "-h", "--help-all"}) {
    Program program;
    EXPECT_EQ(program.parse({option}), 0);
    EXPECT_NE(program.output.find("--cluster-id"), std::string::npos);
  }
}

TEST(ProgramOptions, TellABadValueInOneLine) {
  Program program;
  EXPECT_EQ(program.parse({"-n", "many"}), 2);
  EXPECT_NE(program.complaints.find("many"), std::string::npos) << program.complaints;
}

TEST(ProgramOptions, RefuseWrongLogLevelsAndFolders) {
  Program program;
  EXPECT_EQ(program.parse({"--log-level=LOUD"}), 2);
  EXPECT_NE(program.complaints.find(
                "--log-level takes 0-50, or DEBUG, INFO, WARN, ERROR or CRITICAL, not 'LOUD'"),
            std::string::npos)
      << program.complaints;
  for (const char* level : {"--log-level=10", "--log-level=debug", "--log-level=WARNING"})
    EXPECT_EQ(program.parse({level}), std::nullopt) << level;
  EXPECT_EQ(program.parse({"--work-dir=/missing"}), 2);
  EXPECT_EQ(program.parse({"--profile-dir=/dev/null/x"}), 2);
  EXPECT_EQ(program.parse({"--ipython-dir=/dev/null"}), 2);
  EXPECT_EQ(program.parse({"--work-dir=/", "--profile-dir=/missing/x", "--ipython-dir=x"}),
            std::nullopt);
}

/// Keeps the log of a test from staying the log of the next.
class Log : public ::testing::Test {
 protected:
  ~Log() override { spdlog::set_default_logger(before_); }
  os::TemporaryFolder folder;
  net::ProfilePaths paths{.root = folder.path(), .cluster_id = "c1"};

 private:
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

TEST_F(Log, TakesPythonsLevels) {
  const std::pair<const char*, spdlog::level::level_enum> levels[] = {
      {"DEBUG", spdlog::level::debug}, {"info", spdlog::level::info},
      {"WARN", spdlog::level::warn},   {"WARNING", spdlog::level::warn},
      {"0", spdlog::level::debug},     {"20", spdlog::level::info},
      {"30", spdlog::level::warn},     {"40", spdlog::level::err},
      {"50", spdlog::level::critical}, {"CRITICAL", spdlog::level::critical}};
  for (const auto& [text, level] : levels) {
    ProgramOptions options;
    options.log_level = text;
    ASSERT_TRUE(start_log("program", options, paths)) << text;
    EXPECT_EQ(spdlog::default_logger()->level(), level) << text;
  }
}

TEST_F(Log, RefusesWhatIsNoLevel) {
  for (const char* text : {"", "LOUD", "12345", "-1"}) {
    ProgramOptions options;
    options.log_level = text;
    const auto started = start_log("program", options, paths);
    ASSERT_FALSE(started) << text;
    EXPECT_EQ(started.error().kind, ErrorKind::bad_input);
  }
}

TEST_F(Log, DebugAndQuietAreLevels) {
  ProgramOptions options;
  options.is_debug = true;
  ASSERT_TRUE(start_log("program", options, paths));
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::debug);
  options.is_debug = false;
  options.is_quiet = true;
  ASSERT_TRUE(start_log("program", options, paths));
  EXPECT_EQ(spdlog::default_logger()->level(), spdlog::level::critical);
}

TEST_F(Log, GoesToAFileWhereAsked) {
  ProgramOptions options;
  options.log_to_file = true;
  ASSERT_TRUE(start_log("program", options, paths));
  spdlog::info("a line");
  spdlog::default_logger()->flush();
  const auto file = paths.log() / ("program-c1-" + std::to_string(::getpid()) + ".log");
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_NE(text.str().find("[program]"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find("a line"), std::string::npos) << text.str();
}

TEST_F(Log, WhoseFileCannotBeWrittenIsTold) {
  ProgramOptions options;
  options.log_to_file = true;
  const auto started = start_log("program", options, {.root = "/proc/nowhere", .cluster_id = ""});
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().what.find("/proc/nowhere"), std::string::npos);
}

TEST(WorkDir, IsEnteredOrNamed) {
  os::TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  ProgramOptions options;
  EXPECT_TRUE(enter_work_dir(options));
  EXPECT_EQ(std::filesystem::current_path(), before);
  options.work_dir = folder.path();
  EXPECT_TRUE(enter_work_dir(options));
  EXPECT_EQ(std::filesystem::current_path(), folder.path());
  std::filesystem::current_path(before);
  options.work_dir = folder.path() / "missing";
  const auto failed = enter_work_dir(options);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().what.find(options.work_dir), std::string::npos);
}

TEST_F(Log, CanBeMovedAwayFromStderr) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  start_log_to_stderr("mover");
  move_log_from_stderr(ends[1]);
  spdlog::info("over here");
  start_log_to_stderr("mover");  // nothing keeps the descriptor
  ::close(ends[1]);
  std::array<char, 200> text{};
  ASSERT_GT(::read(ends[0], text.data(), text.size() - 1), 0);
  ::close(ends[0]);
  EXPECT_NE(std::string(text.data()).find("[mover] info: over here\n"), std::string::npos);
}

}  // namespace
}  // namespace px::program
