#include <gtest/gtest.h>

#include <csignal>
#include <set>

#include "cluster/commands/options.hpp"
#include "cluster/launch/settings.hpp"
#include "cluster/process/console.hpp"
#include "os/process_end.hpp"
#include "tests/cluster/hosts_text.hpp"
#include "tests/program/typos.hpp"

namespace px::cluster {
namespace {

using Words = std::vector<std::string>;
using namespace std::chrono_literals;

Json json(const char* text) {
  return Json::parse(text);
}

TEST(Settings, KnowTheTraitsOfIpclustersLaunchers) {
  Settings settings;
  const auto ignored = apply_ipcluster_config(
      settings, json(R"({"SSHEngineSetLauncher": {"engines": {"host2": 4}, "engine_args": ["-a"],
                                                  "remote_python": "/v/bin/python", "scp_cmd": []},
                         "SlurmLauncher": {"account": "physics", "timelimit": 30},
                         "PBSEngineSetLauncher": {"queue": "short"},
                         "BatchSystemLauncher": {"namespace": {"walltime": "1:00"}},
                         "SlurmControllerLauncher": {"queue": "other"},
                         "MPIEngineSetLauncher": {"mpi_args": ["-v"]}})"),
      "config");
  ASSERT_TRUE(ignored);
  EXPECT_EQ(*ignored, (Words{"SSHEngineSetLauncher.scp_cmd", "SlurmControllerLauncher.queue"}));
  EXPECT_EQ(hosts_text(settings.hosts), "host2:4");
  EXPECT_EQ(settings.engine_args, Words{"-a"});
  EXPECT_EQ(settings.remote_python, "/v/bin/python");
  EXPECT_EQ(settings.account, "physics");
  EXPECT_EQ(settings.timelimit, "30");
  EXPECT_EQ(settings.queue, "short");
  EXPECT_EQ(settings.batch_names.at("walltime"), "1:00");
  EXPECT_EQ(settings.mpi_args, Words{"-v"});
}

TEST(Settings, KnowTheOldNamesOfTheClassesAndTheTraitsOfAllLaunchers) {
  Settings settings;
  const auto ignored = apply_ipcluster_config(
      settings, json(R"({"IPClusterEngines": {"engine_launcher_class": "MPIEngineSetLauncher"},
                         "IPClusterStart": {"delay": 2, "daemonize": true},
                         "LocalControllerLauncher": {"controller_args": ["--ip=*"]},
                         "LocalEngineSetLauncher": {"environment": {"A": "1"}, "engine_cmd": ["e"]},
                         "BaseLauncher": {"environment": {"B": "2"}}})"),
      "config");
  ASSERT_TRUE(ignored);
  EXPECT_EQ(*ignored, Words{"IPClusterStart.daemonize"});
  EXPECT_EQ(settings.engines, "MPIEngineSetLauncher");
  EXPECT_EQ(settings.delay, 2);
  EXPECT_EQ(settings.controller_args, Words{"--ip=*"});
  EXPECT_EQ(settings.environment, (std::map<std::string, std::string>{{"A", "1"}, {"B", "2"}}));
  EXPECT_EQ(settings.engine_cmd, Words{"e"});
}

TEST(Settings, AreSaidInOneTextByKeysAndByTraits) {
  Settings settings;
  ASSERT_TRUE(apply_settings_text(
      settings, R"({"hosts": "a:2", "SSHEngineSetLauncher": {"remote_python": "p"}})"));
  EXPECT_EQ(hosts_text(settings.hosts), "a:2");
  EXPECT_EQ(settings.remote_python, "p");
  EXPECT_TRUE(apply_settings_text(settings, ""));
}

TEST(Settings, ATextWithWhatIsUnknownIsRefused) {
  Settings settings;
  const auto error = [&settings](const char* text) {
    return apply_settings_text(settings, text).error();
  };
  EXPECT_NE(error(R"({"SSHEngineSetLauncher": {"scp_cmd": []}})")
                .what.find("nothing like SSHEngineSetLauncher.scp_cmd"),
            std::string::npos);
  EXPECT_NE(error(R"({"host": "a:2"})").what.find("did you mean 'hosts'?"), std::string::npos);
  EXPECT_NE(error(R"({"hosts": 3})").what.find("--settings: 'hosts' must be"), std::string::npos);
  EXPECT_NE(error(R"({"journal": "disk"})").what.find("must be off, process or power"),
            std::string::npos);
  EXPECT_NE(error("hosts=a").what.find("--settings is not a JSON object"), std::string::npos);
}

TEST(Settings, AProfileNamesHostsAsTextListOrObject) {
  for (const char* hosts : {R"("host2:4,host3")", R"(["host2:4", "host3"])"}) {
    Settings settings;
    ASSERT_TRUE(apply_profile(settings, json((std::string(R"({"hosts": )") + hosts + "}").c_str()),
                              "profile"));
    EXPECT_EQ(hosts_text(settings.hosts), "host2:4,host3");
  }
  Settings settings;
  EXPECT_FALSE(apply_profile(settings, json(R"({"hosts": "a;b"})"), "profile"));
}

TEST(Settings, AreLaidOverByAProfile) {
  Settings settings;
  ASSERT_TRUE(apply_profile(settings, json(R"({"n": 3, "engines": "mpi", "mpi_args": ["-v"],
      "delay": 1.5, "environment": {"A": "1"}, "description": "x"})"),
                            "p.json"));
  EXPECT_EQ(settings.n, 3);
  EXPECT_EQ(settings.engines, "mpi");
  EXPECT_EQ(settings.mpi_args, Words{"-v"});
  EXPECT_EQ(settings.delay, 1.5);
  EXPECT_EQ(settings.environment.at("A"), "1");
  EXPECT_EQ(settings.controller, "local");
}

TEST(Settings, TakeACommandAsOneStringToo) {
  Settings settings;
  ASSERT_TRUE(apply_profile(settings, json(R"({"engine_cmd": "python -m 'my engine'"})"), "p"));
  EXPECT_EQ(settings.engine_cmd, (Words{"python", "-m", "my engine"}));
}

TEST(Settings, RefuseAKeyThatNobodyKnowsAndNameTheFile) {
  Settings settings;
  const auto done = apply_profile(settings, json(R"({"colour": 1})"), "/x/p.json");
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().what.find("/x/p.json: unknown key 'colour'; known keys: n, engines"),
            std::string::npos);
  EXPECT_EQ(done.error().what.find('\n'), std::string::npos);
}

TEST(Settings, NameTheKeyThatWasMeant) {
  Settings settings;
  const auto done = apply_profile(settings, json(R"({"enginse": "mpi"})"), "p.json");
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().what, "p.json: unknown key 'enginse'; did you mean 'engines'?");
}

TEST(Settings, KnowTheTraitsOfIpyparallelsLaunchers) {
  EXPECT_EQ(key_of_trait("MPIEngineSetLauncher.mpi_cmd"), "mpi_cmd");
  EXPECT_EQ(key_of_trait("SSHEngineSetLauncher.engine_args"), "engine_args");
  EXPECT_EQ(key_of_trait("SlurmEngineSetLauncher.queue"), "queue");
  EXPECT_EQ(key_of_trait("Cluster.controller_args"), "controller_args");
  EXPECT_EQ(key_of_trait("LocalEngineSetLauncher.delay"), "");
  EXPECT_EQ(key_of_trait("Cluster.load_profile"), "");
  EXPECT_EQ(key_of_trait("mpi_cmd"), "");
}

TEST(Settings, RefuseWrongTypes) {
  Settings settings;
  for (const char* text :
       {R"({"n": "3"})", R"({"n": -1})", R"({"n": 70000})", R"({"ip": 3})", R"({"delay": -1})",
        R"({"mpi_args": [1]})", R"({"environment": {"A": 1}})", "[]", "3", R"({"gpus": 0})",
        R"({"gpus": "all"})", R"({"gpus": true})", R"({"threads_per_engine": 0})",
        R"({"threads_per_engine": "none"})"})
    EXPECT_FALSE(apply_profile(settings, json(text), "p")) << text;
}

TEST(Settings, TakeANumberOfGpusAsTextToo) {
  Settings settings;
  EXPECT_EQ(settings.gpus, "auto");
  for (const char* text : {R"({"gpus": 2})", R"({"gpus": "2"})"}) {
    settings.gpus.clear();
    EXPECT_TRUE(apply_profile(settings, json(text), "p"));
    EXPECT_EQ(settings.gpus, "2");
  }
}

TEST(Settings, TakeAWishForThreads) {
  for (const char* text : {R"({"threads_per_engine": 2})", R"({"threads_per_engine": "2"})"}) {
    Settings settings;
    EXPECT_TRUE(apply_profile(settings, json(text), "p"));
    EXPECT_EQ(settings.threads_per_engine, "2");
  }
  Settings settings;
  EXPECT_TRUE(apply_profile(settings, json(R"({"threads_per_engine": "unchanged"})"), "p"));
  EXPECT_EQ(settings.threads_per_engine, "unchanged");
}

TEST(Settings, HonourTheClusterTraitsOfAnIpclusterConfig) {
  Settings settings;
  const auto ignored = apply_ipcluster_config(
      settings, json(R"({"Cluster": {"n": 5, "engine_launcher_class": "MPI", "load_profile": true},
                         "IPController": {"ip": "*"}})"),
      "c.json");
  ASSERT_TRUE(ignored);
  EXPECT_EQ(settings.n, 5);
  EXPECT_EQ(settings.engines, "MPI");
  EXPECT_EQ(*ignored, (Words{"Cluster.load_profile", "IPController"}));
}

TEST(ProcessEnd, IsToldInWords) {
  EXPECT_EQ((os::ProcessEnd{.exit_code = 3}).text(), "exited with code 3");
  EXPECT_TRUE((os::ProcessEnd{.exit_code = 0, .signal = SIGKILL})
                  .text()
                  .starts_with("was killed by SIGKILL"));
}

ClusterOptions parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "pxcluster");
  auto result = parse_options(static_cast<int>(words.size()), words.data());
  EXPECT_TRUE(std::holds_alternative<ClusterOptions>(result));
  return std::get<ClusterOptions>(result);
}

TEST(ClusterOptions, UnderstandIpclustersWayOfStarting) {
  const ClusterOptions options =
      parsed({"start", "-n", "4", "--engines=MPIEngineSetLauncher", "--profile=big", "--ip=*",
              "--daemonize", "--cluster-id=x", "--", "--sqlitedb", "-v"});
  const auto& start = std::get<StartOptions>(options.command);
  EXPECT_EQ(start.settings, json(R"({"n": 4, "engines": "MPIEngineSetLauncher", "ip": "*"})"));
  EXPECT_EQ(start.controller_args, (Words{"--sqlitedb", "-v"}));
  EXPECT_TRUE(start.is_daemon);
  EXPECT_TRUE(start.clean_logs);
  EXPECT_EQ(options.program.profile.profile, "big");
  EXPECT_EQ(options.program.profile.cluster_id, "x");
}

TEST(ClusterOptions, UnderstandTraits) {
  const ClusterOptions options =
      parsed({"start", "--Cluster.n=4", "--Cluster.engine_launcher_class=mpi",
              "--IPClusterStart.daemonize=True", "--clean-logs=False",
              "--Cluster.load_profile=False", "--Cluster.send_engines_connection_env=x"});
  const auto& start = std::get<StartOptions>(options.command);
  EXPECT_EQ(start.settings, json(R"({"n": 4, "engines": "mpi"})"));
  EXPECT_TRUE(start.is_daemon);
  EXPECT_FALSE(start.clean_logs);
  EXPECT_FALSE(start.loads_profile);
  EXPECT_EQ(options.warnings, Words{"options of ipyparallel that have no effect here: "
                                    "--Cluster.send_engines_connection_env"});
}

TEST(ClusterOptions, UnderstandTheTraitsOfLaunchersUnderAllTheirNames) {
  const ClusterOptions options = parsed({"start", "--MPIEngineSetLauncher.mpi_cmd=srun -n", "-n",
                                         "2", "--Cluster.controller_args", "--sqlitedb"});
  const auto& start = std::get<StartOptions>(options.command);
  EXPECT_EQ(start.settings,
            json(R"({"n": 2, "mpi_cmd": "srun -n", "controller_args": "--sqlitedb"})"));
  EXPECT_EQ(options.warnings, Words{});
}

program::Answer answer(const std::vector<std::string>& words) {
  return program::answer_of(words, [](int argc, const char* const* argv) {
    const auto result = parse_options(argc, argv);
    const int* code = std::get_if<int>(&result);
    return code ? std::optional(*code) : std::nullopt;
  });
}

TEST(ClusterOptions, OfEachCommandAreSuggestedForTheirMisspellings) {
  std::set<Words> tried;  // each option under one of the commands that have it
  int count = program::expect_suggestions(answer, {"pxcluster"}, 2, tried);
  count += program::expect_suggestions(answer, {"pxcluster", "start"}, 1, tried);
  for (const char* command :
       {"engines", "stop", "list", "clean", "logs", "px", "push", "pull", "doctor"})
    count += program::expect_suggestions(answer, {"pxcluster", command}, 1, tried);
  for (const char* command : {"list", "create"})
    count += program::expect_suggestions(answer, {"pxcluster", "profile", command}, 1, tried);
  EXPECT_GT(count, 90);  // of the names that help shows
}

TEST(ClusterOptions, OfOneCommandAreNotThoseOfAnother) {
  EXPECT_EQ(answer({"pxcluster", "stop", "--engines=mpi"}).code, 2);
  EXPECT_EQ(answer({"pxcluster", "profile", "lst"}).err,
            "pxcluster: error: unknown command 'lst'; did you mean list?\n");
  EXPECT_EQ(answer({"pxcluster", "strat"}).err,
            "pxcluster: error: unknown command 'strat'; did you mean start?\n");
}

TEST(ClusterOptions, BehindTwoDashesAreTheControllers) {
  EXPECT_EQ(std::get<StartOptions>(parsed({"start", "--", "--sqlitedb"}).command).controller_args,
            Words{"--sqlitedb"});
  EXPECT_EQ(answer({"pxcluster", "engines", "--", "--sqlitedb"}).code, 2);
  EXPECT_EQ(std::get<PxOptions>(parsed({"px", "--", "-1"}).command).code, "-1");
}

TEST(ClusterOptions, AskForJsonByTheSameWordEverywhere) {
  EXPECT_TRUE(std::get<ListOptions>(parsed({"list", "--json"}).command).as_json);
  EXPECT_TRUE(std::get<PxOptions>(parsed({"px", "--json", "1"}).command).as_json);
  EXPECT_TRUE(std::get<PullOptions>(parsed({"pull", "--json", "x"}).command).as_json);
  EXPECT_TRUE(std::get<DoctorOptions>(parsed({"doctor", "--json"}).command).as_json);
  EXPECT_TRUE(std::get<ProfileListOptions>(parsed({"profile", "list", "--json"}).command).as_json);
  EXPECT_FALSE(parsed({"list"}).as_json);
}

TEST(ClusterOptions, UnderstandTheOtherCommands) {
  EXPECT_TRUE(std::get<StartOptions>(parsed({"engines", "-n", "2"}).command).engines_only);
  EXPECT_TRUE(std::get<ListOptions>(parsed({"list", "-o", "json"}).command).as_json);
  EXPECT_EQ(std::get<StopOptions>(parsed({"stop", "a", "b", "--signal=KILL"}).command).cluster_ids,
            (Words{"a", "b"}));
  EXPECT_TRUE(std::get<CleanOptions>(parsed({"clean", "--force"}).command).force);
  EXPECT_EQ(
      std::get<ProfileCreateOptions>(parsed({"profile", "create", "big", "--from=mpi"}).command)
          .from,
      "mpi");
  EXPECT_TRUE(std::get<McpOptions>(parsed({"mcp", "--allow-run"}).command).can_run);
  EXPECT_FALSE(std::get<McpOptions>(parsed({"mcp"}).command).can_run);
  EXPECT_EQ(std::get<DebugOptions>(parsed({"debug", "--port=5678", "-t0:2"}).command).port, 5678);
  EXPECT_EQ(std::get<DebugOptions>(parsed({"debug"}).command).port, 0);
}

TEST(ClusterOptions, OldSpellingsWorkAndWarn) {
  const ClusterOptions px = parsed({"px", "-f", "cell.py"});
  EXPECT_EQ(std::get<PxOptions>(px.command).code_file, "cell.py");
  EXPECT_EQ(px.warnings, Words{"-f is an old spelling; write --code-file"});
  const ClusterOptions clean = parsed({"clean", "--all"});
  EXPECT_TRUE(std::get<CleanOptions>(clean.command).all_profiles);
  EXPECT_EQ(clean.warnings, Words{"--all is an old spelling; write --all-profiles"});
  EXPECT_EQ(parsed({"list", "-o", "json"}).warnings,
            Words{"--output is an old spelling; write --json"});
  EXPECT_EQ(parsed({"list", "--IPClusterList.output_format=json"}).warnings, Words{});
  const ClusterOptions kept = parsed({"checkpoint", "create", "folder", "--keep=3"});
  EXPECT_EQ(std::get<CheckpointCreateOptions>(kept.command).keep_last, 3);
  EXPECT_EQ(kept.warnings, Words{"--keep is an old spelling; write --keep-last"});
  EXPECT_EQ(
      answer({"pxcluster", "checkpoint", "create", "folder", "--keep=x"}).err,
      "pxcluster: error: --keep takes a whole number of checkpoints from 0 to 2147483647, not "
      "'x'\n");
  EXPECT_EQ(answer({"pxcluster", "px", "-f", "cell.py", "1"}).err,
            "pxcluster: error: -f cannot be combined with code\n");
}

TEST(ClusterOptions, TheCheckpointsToKeepAreANumberOrAll) {
  const auto kept = [](const char* value) {
    return std::get<CheckpointCreateOptions>(
               parsed({"checkpoint", "create", "folder", "--keep-last", value}).command)
        .keep_last;
  };
  EXPECT_EQ(kept("3"), 3);
  EXPECT_EQ(kept("all"), 0);
  EXPECT_EQ(answer({"pxcluster", "checkpoint", "create", "folder", "--keep-last=0"}).err,
            "pxcluster: error: --keep-last takes all, or a whole number of checkpoints from 1 on, "
            "not '0'\n");
}

TEST(ClusterOptions, ADurationHasAUnit) {
  const auto every = [](const char* value) {
    return parsed({"checkpoint", "create", "folder", "--every", value});
  };
  const ClusterOptions minutes = every("10m");
  EXPECT_EQ(std::get<CheckpointCreateOptions>(minutes.command).every_s, 600);
  EXPECT_EQ(minutes.warnings, Words{});
  const ClusterOptions bare = every("10");
  EXPECT_EQ(std::get<CheckpointCreateOptions>(bare.command).every_s, 600);
  EXPECT_EQ(bare.warnings,
            Words{"--every without a unit means minutes; write for example --every 10m"});
}

TEST(ClusterOptions, KnowSignalsByNameAndNumber) {
  EXPECT_EQ(*signal_by_name("15"), SIGTERM);
  EXPECT_EQ(*signal_by_name("term"), SIGTERM);
  EXPECT_EQ(*signal_by_name("SIGINT"), SIGINT);
  EXPECT_FALSE(signal_by_name("NOPE"));
  EXPECT_FALSE(signal_by_name("0"));
}

TEST(Progress, IsABarOnATerminal) {
  EXPECT_EQ(progress_bar(2, 4), "[################................] 2/4 engines");
  EXPECT_EQ(progress_bar(0, 0), "[################################] 0/0 engines");
}

TEST(Progress, IsALineASecondElsewhere) {
  ProgressLines lines;
  const Instant start{};
  EXPECT_EQ(lines.line(0, 9, start), "0/9 engines");
  EXPECT_EQ(lines.line(1, 9, start + 500ms), std::nullopt);
  EXPECT_EQ(lines.line(2, 9, start + 1100ms), "2/9 engines");
  EXPECT_EQ(lines.line(9, 9, start + 1200ms), "9/9 engines");
}

}  // namespace
}  // namespace px::cluster
