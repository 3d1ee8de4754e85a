#include <gtest/gtest.h>

#include "cluster/launch/host_list.hpp"
#include "tests/cluster/hosts_text.hpp"

namespace px::cluster {
namespace {

std::string read(std::string_view text) {
  const auto hosts = parse_hosts(text);
  return hosts ? hosts_text(*hosts) : hosts.error().what;
}

TEST(HostList, ReadsNamesWithAndWithoutANumberOfEngines) {
  EXPECT_EQ(read("host2:4,host3"), "host2:4,host3");
  EXPECT_EQ(read(" host2:4 , ann@host3:1\n"), "host2:4,ann@host3:1");
  EXPECT_EQ(read("10.0.0.7:2"), "10.0.0.7:2");
  EXPECT_EQ(read(""), "");
}

TEST(HostList, KnowsTheColonsOfIpv6FromThatOfTheNumber) {
  EXPECT_EQ(read("[fe80::1]:2"), "[fe80::1]:2");
  EXPECT_EQ(read("fe80::1"), "[fe80::1]");
}

TEST(HostList, ARangeStandsForAllItsHosts) {
  EXPECT_EQ(read("node[08-10,12].site:2"),
            "node08.site:2,node09.site:2,node10.site:2,node12.site:2");
}

TEST(HostList, AHostThatIsNamedTwiceHasTheSlotsOfBoth) {
  EXPECT_EQ(read("host2,host3:2,host2:3"), "host2:4,host3:2");
}

TEST(HostList, RefusesWhatASshOrAShellWouldTakeForSomethingElse) {
  for (const char* text : {"-oProxyCommand=x", "host2;rm", "$(x)", "host2:many", "host2:-1",
                           "node[1-", "node[3-1]", "node[a-b]", "host2:99999999"})
    EXPECT_FALSE(parse_hosts(text)) << text;
}

TEST(HostList, ReadsHostFilesOfBothMpis) {
  const auto hosts =
      parse_host_file("# ours\nhost1 slots=2 max_slots=4\n\nhost2:3  # big\nhost3\n");
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts_text(*hosts), "host1:2,host2:3,host3");
}

TEST(HostList, NamesTheLineOfAHostFileThatCannotBeRead) {
  const auto hosts = parse_host_file("host1\nhost2:x\n");
  ASSERT_FALSE(hosts);
  EXPECT_EQ(hosts.error().what.substr(0, 7), "line 2:");
}

TEST(HostList, ReadsWhatIpclusterHasInItsProfiles) {
  const auto hosts = hosts_from_json(Json::parse(R"({"host2": 4, "host3": {"n": 2}})"));
  ASSERT_TRUE(hosts);
  EXPECT_EQ(hosts_text(*hosts), "host2:4,host3:2");
  EXPECT_EQ(hosts_text(*hosts_from_json(Json::parse(R"(["host2:4", "host3"])"))), "host2:4,host3");
  EXPECT_FALSE(hosts_from_json(Json::parse(R"({"host2": "many"})")));
  EXPECT_FALSE(hosts_from_json(Json::parse("7")));
}

std::vector<int> shares(std::string_view hosts, int count) {
  return share_engines(*parse_hosts(hosts), count);
}

TEST(HostList, FillsHostsInTheirOrder) {
  EXPECT_EQ(shares("a:4,b:2", 6), (std::vector{4, 2}));
  EXPECT_EQ(shares("a:4,b:2", 5), (std::vector{4, 1}));
}

TEST(HostList, GivesHostsWithoutANumberWhatTheOthersLeave) {
  EXPECT_EQ(shares("a,b,c", 7), (std::vector{3, 2, 2}));
  EXPECT_EQ(shares("a:1,b,c", 5), (std::vector{1, 2, 2}));
}

TEST(HostList, SendsMoreEnginesThanSlotsRoundTheHostsThatHaveAny) {
  EXPECT_EQ(shares("a:1,b:2,c:0", 7), (std::vector{3, 4, 0}));
  EXPECT_EQ(count_slots(*parse_hosts("a:1,b:2,c")), 4);
}

TEST(HostList, KnowsThisComputer) {
  EXPECT_TRUE(is_loopback_name("localhost"));
  EXPECT_TRUE(is_loopback_name("ann@127.0.0.1"));
  EXPECT_FALSE(is_loopback_name("host2"));
}

}  // namespace
}  // namespace px::cluster
