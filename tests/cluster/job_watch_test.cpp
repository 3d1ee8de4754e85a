#include <gtest/gtest.h>

#include "cluster/remote/job_watch.hpp"

namespace px::cluster {
namespace {

using namespace std::chrono_literals;
using Words = std::vector<std::string>;

Instant at(Duration time) {
  return Instant{} + time;
}

JobPlan plan_of_four() {
  JobPlan plan;
  plan.system.name = "slurm";
  plan.system.submit = {"sbatch"};
  plan.system.remove = {"scancel"};
  plan.system.job_id_regexp = "job (\\d+)";
  plan.system.status = {"scontrol", "show", "job", "{job_id}"};
  plan.system.state_regexp = "JobState=(\\w+)";
  plan.system.detail_regexps = {"Reason=(\\S+)"};
  plan.system.hosts_regexp = " NodeList=(\\S+)";
  plan.system.end_regexp = "EndTime=(\\d\\S+)";
  plan.system.waiting = {"PENDING"};
  plan.system.running = {"RUNNING"};
  plan.system.meanings = {{"TIMEOUT", "it ran into its time limit"}};
  plan.engine_count = 4;
  plan.script = "#!/bin/sh\n";
  plan.script_file = "/p/engines.sh";
  plan.end_file = "/p/engines.end";
  return plan;
}

template <class T>
std::vector<T> only(const std::vector<JobEffect>& effects) {
  std::vector<T> found;
  for (const JobEffect& effect : effects)
    if (const T* body = std::get_if<T>(&effect)) found.push_back(*body);
  return found;
}

std::string said(const std::vector<JobEffect>& effects) {
  std::string text;
  for (const TellReport& tell : only<TellReport>(effects)) text += tell.report.text + "\n";
  return text;
}

struct Story {
  explicit Story(JobPlan plan = plan_of_four()) : watch(std::move(plan)) {}
  std::vector<JobEffect> told(const std::string& out, Duration when) {
    return watch.answered({false, out, ""}, at(when));
  }
  void is_submitted() {
    watch.begin(at(0s));
    told("Submitted batch job 17\n", 0s);
  }
  /// Lets the time pass until it asks for the state, which is `out`.
  std::vector<JobEffect> state(const std::string& out) {
    const Instant when = *watch.next_deadline();
    asked = only<AskBatchSystem>(watch.on_time(when));
    return watch.answered({false, out, ""}, when);
  }
  JobWatch watch;
  std::vector<AskBatchSystem> asked;
};

TEST(JobWatch, SubmitsTheScriptByItsPathOrItsText) {
  JobWatch by_path{plan_of_four()};
  EXPECT_EQ(only<AskBatchSystem>(by_path.begin(at(0s))),
            (std::vector{AskBatchSystem{{"sbatch", "/p/engines.sh"}, ""}}));
  JobPlan plan = plan_of_four();
  plan.system.submits_by_input = true;
  JobWatch by_text{plan};
  EXPECT_EQ(only<AskBatchSystem>(by_text.begin(at(0s))),
            (std::vector{AskBatchSystem{{"sbatch"}, "#!/bin/sh\n"}}));
}

TEST(JobWatch, NamesTheJob) {
  Story story;
  story.watch.begin(at(0s));
  EXPECT_EQ(said(story.told("Submitted batch job 17\n", 0s)), "the engines are slurm job 17\n");
}

TEST(JobWatch, SaysWhyAJobWasNotTaken) {
  Story story;
  story.watch.begin(at(0s));
  const auto effects = story.watch.answered({true, "", "invalid partition specified: x"}, at(0s));
  EXPECT_NE(said(effects).find("invalid partition specified: x"), std::string::npos);
  EXPECT_EQ(only<EndJobWatch>(effects), (std::vector{EndJobWatch{1}}));
}

TEST(JobWatch, SaysOnceWhatAJobWaitsForAndAsksForPatienceEachTime) {
  Story story;
  story.is_submitted();
  const auto first = story.state("JobState=PENDING Reason=Resources");
  EXPECT_EQ(story.asked.at(0).argv, (Words{"scontrol", "show", "job", "17"}));
  EXPECT_EQ(said(first), "slurm job 17 waits: Resources\n");
  const auto again = only<TellReport>(story.state("JobState=PENDING Reason=Resources"));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].report.text, "");
  EXPECT_TRUE(again[0].report.is_waiting);
  EXPECT_EQ(said(story.state("JobState=RUNNING Reason=None NodeList=host[1-2]")),
            "slurm job 17 runs on host[1-2]\n");
}

TEST(JobWatch, SaysUntilWhenAJobRunsAndRecordsItsEndAgainIfItIsMoved) {
  Story story;
  story.is_submitted();
  EXPECT_EQ(only<RecordEnd>(story.state("JobState=PENDING EndTime=2026-11-28T18:30:00")),
            std::vector<RecordEnd>{});  // a guess of the batch system
  const auto begun = story.state("JobState=RUNNING EndTime=2026-11-28T18:30:00 NodeList=host1");
  EXPECT_EQ(said(begun), "slurm job 17 runs on host1 until 2026-11-28 18:30:00\n");
  EXPECT_EQ(only<RecordEnd>(begun),
            (std::vector{RecordEnd{"slurm job 17 ends at 2026-11-28 18:30:00"}}));
  const auto same = story.state("JobState=RUNNING EndTime=2026-11-28T18:30:00 NodeList=host1");
  EXPECT_EQ(only<RecordEnd>(same), std::vector<RecordEnd>{});
  const auto moved = story.state("JobState=RUNNING EndTime=2026-11-28T19:30:00 NodeList=host1");
  EXPECT_EQ(said(moved), "");
  EXPECT_EQ(only<RecordEnd>(moved),
            (std::vector{RecordEnd{"slurm job 17 ends at 2026-11-28 19:30:00"}}));
}

TEST(JobWatch, AsksMoreAndMoreSeldom) {
  Story story;
  story.is_submitted();
  Duration last{};
  for (int i = 0; i < 100; ++i) {
    const Duration pause = *story.watch.next_deadline() - at(0s);
    story.state("JobState=RUNNING");
    last = *story.watch.next_deadline() - at(0s) - pause;
  }
  EXPECT_EQ(last, 10s);
}

TEST(JobWatch, SaysWhyAJobEnded) {
  Story story;
  story.is_submitted();
  story.state("JobState=RUNNING");
  const auto effects = story.state("JobState=TIMEOUT Reason=TimeLimit");
  EXPECT_EQ(said(effects),
            "slurm job 17 of the engines has ended: TIMEOUT: it ran into its time limit; "
            "TimeLimit\n");
  EXPECT_EQ(only<TellReport>(effects).at(0).report.engine_count, 0);
  EXPECT_EQ(only<EndJobWatch>(effects), (std::vector{EndJobWatch{1}}));
}

TEST(JobWatch, LooksIntoTheBooksForAJobThatIsGone) {
  JobPlan plan = plan_of_four();
  plan.system.epitaph = {"sacct", "-j", "{job_id}"};
  Story story{plan};
  story.is_submitted();
  EXPECT_EQ(only<AskBatchSystem>(story.state("")).at(0).argv, (Words{"sacct", "-j", "17"}));
  EXPECT_NE(said(story.told("CANCELLED by 0|0:15\n", 9s)).find("CANCELLED by 0|0:15"),
            std::string::npos);
}

TEST(JobWatch, OverlooksABatchSystemThatDoesNotAnswerForAWhile) {
  Story story;
  story.is_submitted();
  for (int i = 0; i < 4; ++i) {
    story.watch.on_time(*story.watch.next_deadline());
    EXPECT_TRUE(story.watch.answered({true, "", "timed out"}, at(1s)).empty());
  }
  EXPECT_FALSE(story.watch.is_ended());
}

TEST(JobWatch, TakesACommandThatHangsForOneThatFailed) {
  Story story;
  story.is_submitted();
  story.watch.on_time(*story.watch.next_deadline());
  const Instant given_up = *story.watch.next_deadline();
  EXPECT_TRUE(only<AskBatchSystem>(story.watch.on_time(given_up)).empty());
  EXPECT_EQ(only<AskBatchSystem>(story.watch.on_time(*story.watch.next_deadline())).at(0).argv,
            (Words{"scontrol", "show", "job", "17"}));
}

TEST(JobWatch, GivesUpASubmissionThatHangs) {
  Story story;
  story.watch.begin(at(0s));
  const auto effects = story.watch.on_time(*story.watch.next_deadline());
  EXPECT_NE(said(effects).find("it did not answer in time"), std::string::npos) << said(effects);
  EXPECT_EQ(only<EndJobWatch>(effects), (std::vector{EndJobWatch{1}}));
}

TEST(JobWatch, DeletesTheJobAndWaitsUntilItIsGone) {
  Story story;
  story.is_submitted();
  EXPECT_EQ(only<AskBatchSystem>(story.watch.stop(at(1s))),
            (std::vector{AskBatchSystem{{"scancel", "17"}, ""}}));
  story.told("", 1s);
  EXPECT_TRUE(only<EndJobWatch>(story.state("JobState=RUNNING")).empty());
  EXPECT_EQ(only<EndJobWatch>(story.state("JobState=CANCELLED")), (std::vector{EndJobWatch{0}}));
}

TEST(JobWatch, DeletesAJobWhoseSubmissionIsStillOnItsWay) {
  Story story;
  story.watch.begin(at(0s));
  EXPECT_TRUE(story.watch.stop(at(0s)).empty());
  const auto effects = story.told("Submitted batch job 17\n", 1s);
  EXPECT_EQ(only<AskBatchSystem>(effects).at(0).argv, (Words{"scancel", "17"}));
}

TEST(JobWatch, NamesAJobThatMayHaveBeenSubmittedWhenItIsStoppedMeanwhile) {
  Story story;
  story.watch.begin(at(0s));
  EXPECT_TRUE(story.watch.stop(at(5s)).empty());
  EXPECT_EQ(story.watch.next_deadline(), at(17s));
  const auto effects = story.watch.on_time(at(17s));
  EXPECT_EQ(
      said(effects),
      "sbatch has not answered for 12 s since the stop and was ended; its job may still be in the "
      "queue: look for it with scontrol, and delete it with scancel\n");
  EXPECT_EQ(only<EndJobWatch>(effects).size(), 1u);
}

}  // namespace
}  // namespace px::cluster
