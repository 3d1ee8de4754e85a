#include <gtest/gtest.h>

#include "cluster/remote/ssh_watch.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;

Instant at(Duration time) {
  return Instant{} + time;
}

SshHostPlan two_engines() {
  SshHostPlan plan;
  plan.host = "host2";
  plan.engines = {{"pxengine"}, {"pxengine"}};
  return plan;
}

template <class T>
std::vector<T> only(const std::vector<WatchEffect>& effects) {
  std::vector<T> found;
  for (const WatchEffect& effect : effects)
    if (const T* body = std::get_if<T>(&effect)) found.push_back(*body);
  return found;
}

std::string said(const std::vector<WatchEffect>& effects) {
  std::string text;
  for (const SayReport& say : only<SayReport>(effects)) text += say.report.text + "\n";
  return text;
}

/// A watch that has come as far as a test needs it.
struct Story {
  SshWatch watch{two_engines(), "{}"};

  std::vector<WatchEffect> hears(std::string_view line, Duration when = 1s) {
    return watch.line(SshSession::main, line, at(when));
  }
  void all_is_up() {
    watch.begin(at(0s));
    hears("px:started 0 100");
    hears("px:started 1 101");
    hears("px:watching");
  }
  std::vector<WatchEffect> breaks(Duration when, const std::string& complaint = "broken pipe") {
    return watch.closed(SshSession::main, {.exit_code = 255}, complaint, at(when));
  }
};

TEST(SshWatch, StartsTheEnginesByOneSession) {
  SshWatch watch{two_engines(), "{}"};
  const auto opened = only<OpenSession>(watch.begin(at(0s)));
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].session, SshSession::main);
  EXPECT_EQ(opened[0].script, ssh_start_script(two_engines(), "{}"));
}

TEST(SshWatch, SaysHowAnEngineEndedWithTheEndOfItsLogAndHowManyAreLeft) {
  Story story;
  story.all_is_up();
  story.hears("px:tail 1 last words");
  const auto reports = only<SayReport>(story.hears("px:ended 1 137"));
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].report.engine_count, 1);
  EXPECT_NE(reports[0].report.text.find("engine 1 on host2 was killed by SIGKILL"),
            std::string::npos);
  EXPECT_NE(reports[0].report.text.find("| last words"), std::string::npos);
}

TEST(SshWatch, SaysAnEndOnce) {
  Story story;
  story.all_is_up();
  story.hears("px:ended 1 1");
  EXPECT_EQ(said(story.hears("px:ended 1 1")), "");
}

TEST(SshWatch, RestartsOneEngineByASessionOfItsOwn) {
  Story story;
  story.all_is_up();
  story.hears("px:ended 1 137");
  const auto effects = story.watch.restart({{1}, "new"});
  const auto opened = only<OpenSession>(effects);
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].session, SshSession::restart);
  EXPECT_EQ(opened[0].script, ssh_restart_script(two_engines(), {1}, "new"));
  EXPECT_EQ(only<SayReport>(effects)[0].report.engine_count, 2);
  EXPECT_TRUE(story.watch.closed(SshSession::restart, {}, "", at(2s)).empty());
  story.hears("px:started 1 102");
  EXPECT_EQ(only<SayReport>(story.hears("px:ended 1 1"))[0].report.engine_count, 1);
}

TEST(SshWatch, SaysNothingOfTheEndOfAnEngineThatItRestarts) {
  Story story;
  story.all_is_up();
  story.watch.restart({{0}, "new"});
  EXPECT_EQ(said(story.hears("px:ended 0 143")), "");
}

TEST(SshWatch, SaysWhyAnEngineCouldNotBeStartedAgain) {
  Story story;
  story.all_is_up();
  story.watch.restart({{0}, "new"});
  story.watch.line(SshSession::restart, "px:failed there is no program", at(2s));
  const auto effects = story.watch.closed(SshSession::restart, {.exit_code = 1}, "", at(2s));
  EXPECT_EQ(said(effects), "cannot start engines again on host2: there is no program\n");
  EXPECT_EQ(only<SayReport>(effects)[0].report.engine_count, 1);
}

TEST(SshWatch, RestartsNothingWhileTheConnectionIsBroken) {
  Story story;
  story.all_is_up();
  story.breaks(2s);
  EXPECT_TRUE(only<OpenSession>(story.watch.restart({{0}, "new"})).empty());
}

TEST(SshWatch, ReadsTheOrdersOfItsPxcluster) {
  const WatchOrder order{{0, 2}, "{\"key\": 1}"};
  EXPECT_EQ(read_watch_order(write_watch_order(order)), order);
  EXPECT_EQ(read_watch_order("{}"), std::nullopt);
}

TEST(SshWatch, NamesWhatSshSaysAndWhatHelpsWhenAHostCannotBeReached) {
  Story story;
  story.watch.begin(at(0s));
  const auto effects = story.breaks(1s, "ann@host2: Permission denied (publickey).");
  EXPECT_NE(said(effects).find("Permission denied"), std::string::npos);
  EXPECT_NE(said(effects).find("ssh-copy-id host2"), std::string::npos);
  EXPECT_EQ(only<EndWatch>(effects), (std::vector{EndWatch{1}}));
}

TEST(SshWatch, NamesWhatIsMissingOnTheHost) {
  Story story;
  story.watch.begin(at(0s));
  story.hears("px:failed there is no program pxengine");
  const auto effects = story.watch.closed(SshSession::main, {.exit_code = 1}, "", at(1s));
  EXPECT_NE(said(effects).find("cannot start engines on host2: there is no program pxengine"),
            std::string::npos);
  EXPECT_TRUE(story.watch.is_ended());
}

TEST(SshWatch, OpensABrokenConnectionAgainAndOnlyLooks) {
  Story story;
  story.all_is_up();
  EXPECT_NE(said(story.breaks(10s)).find("broke (broken pipe); its engines keep running"),
            std::string::npos);
  EXPECT_EQ(story.watch.next_deadline(), at(11s));
  const auto opened = only<OpenSession>(story.watch.on_time(at(11s)));
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].script, ssh_watch_script(two_engines()));
  EXPECT_NE(said(story.hears("px:watching", 12s)).find("is open again"), std::string::npos);
}

TEST(SshWatch, TriesMoreAndMoreSlowlyAndSaysSoOnce) {
  Story story;
  story.all_is_up();
  story.breaks(10s);
  story.watch.on_time(at(11s));
  EXPECT_EQ(said(story.breaks(12s)), "");
  EXPECT_EQ(story.watch.next_deadline(), at(14s));
}

TEST(SshWatch, ConnectionThatBreaksWhileEnginesAreStartedLosesNone) {
  Story story;
  story.watch.begin(at(0s));
  story.hears("px:started 0 100");
  story.breaks(1s);
  EXPECT_FALSE(story.watch.is_ended());
  EXPECT_TRUE(story.watch.next_deadline());
}

TEST(SshWatch, StopsAndKeepsTheLogs) {
  Story story;
  story.all_is_up();
  const auto opened = only<OpenSession>(story.watch.stop(at(5s)));
  ASSERT_EQ(opened.size(), 1u);
  EXPECT_EQ(opened[0].session, SshSession::stop);
  const auto kept = story.watch.line(SshSession::stop, "px:log 1 hello", at(6s));
  EXPECT_EQ(only<KeepLog>(kept), (std::vector{KeepLog{1, "hello"}}));
  EXPECT_EQ(only<EndWatch>(story.watch.line(SshSession::stop, "px:done", at(6s))),
            (std::vector{EndWatch{0}}));
}

TEST(SshWatch, AStopWaitsUntilAllIsStartedSoThatNothingIsMissed) {
  Story story;
  story.watch.begin(at(0s));
  EXPECT_TRUE(story.watch.stop(at(1s)).empty());
  EXPECT_EQ(only<OpenSession>(story.hears("px:watching")).size(), 1u);
}

TEST(SshWatch, GivesUpOnAHostThatDoesNotAnswerTheStop) {
  Story story;
  story.all_is_up();
  story.watch.stop(at(5s));
  const auto effects = story.watch.on_time(*story.watch.next_deadline());
  EXPECT_NE(said(effects).find("host2 does not answer"), std::string::npos);
  EXPECT_EQ(only<EndWatch>(effects), (std::vector{EndWatch{1}}));
}

TEST(SshWatch, StopsOverANewConnectionWhenTheOldOneBroke) {
  Story story;
  story.all_is_up();
  story.breaks(10s);
  EXPECT_EQ(only<OpenSession>(story.watch.stop(at(10s))).at(0).session, SshSession::stop);
}

TEST(SshWatch, WhenAllEnginesHaveEndedItClearsUpAndEnds) {
  Story story;
  story.all_is_up();
  story.hears("px:ended 0 0");
  story.hears("px:ended 1 1");
  story.hears("px:done");
  const auto effects = story.watch.closed(SshSession::main, {}, "", at(9s));
  EXPECT_EQ(only<OpenSession>(effects).at(0).session, SshSession::stop);
  EXPECT_EQ(only<EndWatch>(story.watch.line(SshSession::stop, "px:done", at(9s))),
            (std::vector{EndWatch{1}}));
}

TEST(SshWatch, PassesSignalsOn) {
  Story story;
  story.all_is_up();
  EXPECT_EQ(only<OpenSession>(story.watch.pass_on("USR1")).at(0).session, SshSession::one_shot);
  EXPECT_TRUE(story.watch.line(SshSession::one_shot, "px:done", at(2s)).empty());
  EXPECT_FALSE(story.watch.is_ended());
}

TEST(WatchReport, TravelsOnOneLine) {
  const WatchReport report{Level::warning, "two\nlines", 3, true};
  const std::string line = write_watch_report(report);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(read_watch_report(line), report);
  EXPECT_FALSE(read_watch_report("free(): invalid pointer"));
  EXPECT_FALSE(read_watch_report(R"({"level": 77, "text": "x"})"));
}

}  // namespace
}  // namespace px::cluster
