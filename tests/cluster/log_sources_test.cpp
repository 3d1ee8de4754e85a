#include <gtest/gtest.h>

#include <sstream>

#include "cluster/commands/log_sources.hpp"

namespace px::cluster {
namespace {

std::vector<std::string> labels(const std::vector<LogSource>& sources) {
  std::vector<std::string> all;
  for (const LogSource& source : sources) all.push_back(source.label);
  return all;
}

using Labels = std::vector<std::string>;

TEST(LogSources, AreCountedInTheOrderOfTheEngines) {
  const auto sources = list_log_sources(
      "/log", {"ipengine--17-10.log", "ipengine--17-2.log", "ipcontroller-9.log"}, {});
  EXPECT_EQ(labels(sources), (Labels{"controller", "engine 0", "engine 1"}));
  EXPECT_EQ(sources[1].file, "/log/ipengine--17-2.log");
}

TEST(LogSources, OfOtherHostsComeThroughTheirWatchers) {
  SshHostPlan host2;
  host2.host = "host2";
  host2.log_stem = "/log/ipengine--17-0";
  host2.engines = {{"pxengine"}, {"pxengine"}};
  const auto sources =
      list_log_sources("/log", {"ipengine--17-0.log", "pxcluster--9.log"}, {host2});
  EXPECT_EQ(labels(sources),
            (Labels{"watcher", "pxcluster", "engine 0 (host2)", "engine 1 (host2)"}));
  EXPECT_EQ(sources[3].remote_engine, 1);
}

TEST(LogSources, OfEnginesAreCalledByTheIdsThatTheyGot) {
  auto sources = list_log_sources("/log",
                                  {"ipengine--17-0.log", "ipengine--17-1.log", "ipengine--17-2.log",
                                   "ipengine--18-0.log", "ipcontroller-9.log"},
                                  {});
  name_by_ids(sources, [](const std::filesystem::path& file) -> std::vector<int> {
    if (file == "/log/ipengine--17-0.log") return {2};
    if (file == "/log/ipengine--17-1.log") return {0};
    if (file == "/log/ipengine--18-0.log") return {3, 4, 5};
    return {};
  });
  EXPECT_EQ(labels(sources),
            (Labels{"controller", "engine 2", "engine 0", "engine without id", "engines 3-5"}));
  EXPECT_EQ(choose_sources(sources, "0").front().file, "/log/ipengine--17-1.log");
  EXPECT_EQ(choose_sources(sources, "2").front().file, "/log/ipengine--17-0.log");
  EXPECT_EQ(labels(choose_sources(sources, "4")), (Labels{"engines 3-5"}));
  EXPECT_TRUE(choose_sources(sources, "1").empty());
}

TEST(LogSources, TellTheIdsOfTheirEngines) {
  std::istringstream log{
      "2026-11-22 10:00:00 [pxengine] info: Completed registration with id 10\nsome text\n"
      "Completed registration with id 9\nCompleted registration with id 10\n"
      "Completed registration with id none\n"};
  EXPECT_EQ(engine_ids_in(log), (std::vector<int>{9, 10}));
}

TEST(LogSources, AreChosenByNumberNameOrHost) {
  std::vector<LogSource> all(4);
  all[0].label = "controller";
  all[1].label = "engine 1 (host2)";
  all[2].label = "engine 10 (host2)";
  all[3].label = "engine 2";
  EXPECT_EQ(labels(choose_sources(all, "1")), (Labels{"engine 1 (host2)"}));
  EXPECT_EQ(labels(choose_sources(all, "2")), (Labels{"engine 2"}));
  EXPECT_EQ(labels(choose_sources(all, "host2")).size(), 2u);
  EXPECT_EQ(labels(choose_sources(all, "controller")), (Labels{"controller"}));
  EXPECT_EQ(choose_sources(all, "").size(), 4u);
  EXPECT_TRUE(choose_sources(all, "7").empty());
}

}  // namespace
}  // namespace px::cluster
