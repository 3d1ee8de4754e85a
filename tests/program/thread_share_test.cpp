#include "program/thread_share.hpp"

#include <gtest/gtest.h>

#include <map>

namespace px::program {
namespace {

using Values = std::map<std::string, std::string>;

Environment with_values(Values values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

/// "OMP=1 NUMBA=1": what is set.
std::string set_by(const Values& environment, const HostCores& cores, int engines) {
  const auto set = share_threads(with_values(environment), cores, engines).variables;
  return used_threads(with_values({set.begin(), set.end()}));
}

TEST(ThreadShare, IsThePartOfTheHostsCoresThatAnEngineHas) {
  EXPECT_EQ(set_by({}, {.own = 16, .host = 16}, 4), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({}, {.own = 8, .host = 8}, 3), "OMP=2 NUMBA=2");
  EXPECT_EQ(set_by({}, {.own = 2, .host = 2}, 4), "OMP=1 NUMBA=1");
}

TEST(ThreadShare, IsNoLargerThanTheCoresToWhichTheLauncherBindsARank) {
  EXPECT_EQ(set_by({}, {.own = 1, .host = 16}, 4), "OMP=1 NUMBA=1");
  EXPECT_EQ(set_by({}, {.own = 8, .host = 16}, 4), "OMP=4 NUMBA=4");
}

TEST(ThreadShare, IsLeftToTheLibrariesForAnEngineThatHasAllCores) {
  EXPECT_EQ(set_by({}, {.own = 16, .host = 16}, 1), "");
  EXPECT_EQ(set_by({}, {.own = 4, .host = 16}, 1), "");
  EXPECT_EQ(set_by({}, {.own = 4, .host = 4, .quota = 4}, 1), "");
}

TEST(ThreadShare, CountsTheProcessorTimeOfAContainer) {
  EXPECT_EQ(set_by({}, {.own = 64, .host = 64, .quota = 4}, 1), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({}, {.own = 64, .host = 64, .quota = 5.5}, 2), "OMP=2 NUMBA=2");
  EXPECT_EQ(set_by({}, {.own = 64, .host = 64, .quota = 0.5}, 1), "OMP=1 NUMBA=1");
}

TEST(ThreadShare, CountsTheCoresThatABatchSystemGives) {
  const HostCores unbound{.own = 64, .host = 64};
  EXPECT_EQ(set_by({{"NSLOTS", "4"}}, unbound, 1), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({{"LSB_DJOB_NUMPROC", "1"}}, unbound, 1), "OMP=1 NUMBA=1");
  EXPECT_EQ(set_by({{"PBS_NUM_PPN", "8"}}, unbound, 2), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({{"SLURM_CPUS_ON_NODE", "16"}}, unbound, 4), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({{"SLURM_CPUS_ON_NODE", "16"}, {"SLURM_CPUS_PER_TASK", "4"}}, unbound, 3),
            "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({{"SLURM_CPUS_PER_TASK", "8"}}, unbound, 16), "OMP=4 NUMBA=4");
  EXPECT_EQ(set_by({{"NSLOTS", "many"}}, unbound, 1), "");
}

TEST(ThreadShare, ChangesNothingThatIsSet) {
  const HostCores two{.own = 2, .host = 2};
  EXPECT_EQ(set_by({{"OMP_NUM_THREADS", "8"}}, two, 4), "");
  EXPECT_EQ(set_by({{"OMP_NUM_THREADS", ""}}, two, 4), "");
  EXPECT_EQ(set_by({{"NUMBA_NUM_THREADS", "2"}}, two, 4), "OMP=1");
  EXPECT_EQ(set_by({{"MKL_NUM_THREADS", "2"}}, two, 4), "OMP=1 NUMBA=1");
}

TEST(ThreadShare, IsWhatTheUserDemands) {
  const HostCores two{.own = 2, .host = 2};
  const auto wish = [](const std::string& text, Values more = {}) {
    more["POLYXEUS_THREADS_PER_ENGINE"] = text;
    return more;
  };
  EXPECT_EQ(set_by(wish("unchanged"), two, 4), "");
  EXPECT_EQ(set_by(wish("auto"), two, 4), "OMP=1 NUMBA=1");
  EXPECT_EQ(set_by(wish("3"), two, 1), "OMP=3 NUMBA=3");
  EXPECT_EQ(set_by(wish("3", {{"OMP_NUM_THREADS", "8"}, {"MKL_NUM_THREADS", "8"}}), two, 4),
            "OMP=3 MKL=3 NUMBA=3");
  EXPECT_EQ(set_by(wish("few"), two, 4), "OMP=1 NUMBA=1");
}

TEST(ThreadShare, IsSaidInASentence) {
  const auto said = [](const Values& environment, const HostCores& cores, int engines) {
    return share_threads(with_values(environment), cores, engines).note;
  };
  EXPECT_EQ(said({}, {.own = 2, .host = 2}, 4),
            "4 engines share 2 cores of this host: OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1 are "
            "set (--threads-per-engine)");
  EXPECT_EQ(said({{"NUMBA_NUM_THREADS", "1"}}, {.own = 1, .host = 8}, 2),
            "2 engines share 8 cores of this host, and this one may use 1: OMP_NUM_THREADS=1 is "
            "set (--threads-per-engine)");
  EXPECT_EQ(said({}, {.own = 64, .host = 64, .quota = 1}, 1),
            "the engine has 1 core of this host: OMP_NUM_THREADS=1 and NUMBA_NUM_THREADS=1 are set "
            "(--threads-per-engine)");
  EXPECT_EQ(said({{"OMP_NUM_THREADS", "1"}}, {.own = 2, .host = 2}, 4), "");
  EXPECT_EQ(said({{"POLYXEUS_THREADS_PER_ENGINE", "1"}}, {.own = 2, .host = 2}, 4), "");
}

TEST(ThreadShare, WishesAreAutoUnchangedOrANumber) {
  for (const char* text : {"auto", "unchanged", "1", "65536"})
    EXPECT_TRUE(is_thread_wish(text)) << text;
  for (const char* text : {"", "none", "0", "-1", "65537", "2.5"})
    EXPECT_FALSE(is_thread_wish(text)) << text;
}

TEST(ThreadShare, TheSettingsOfAnEngineAreShownShort) {
  EXPECT_EQ(used_threads(with_values({})), "");
  EXPECT_EQ(
      used_threads(with_values(
          {{"OMP_NUM_THREADS", "4"}, {"OPENBLAS_NUM_THREADS", "1"}, {"NUMBA_NUM_THREADS", "2"}})),
      "OMP=4 OPENBLAS=1 NUMBA=2");
}

}  // namespace
}  // namespace px::program
