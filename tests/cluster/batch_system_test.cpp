#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cluster/remote/batch_system.hpp"
#include "cluster/remote/job_watch.hpp"

namespace px::cluster {
namespace {

/// The description that comes with the program; tests run somewhere in the source tree.
BatchSystem system_of(const std::string& name) {
  std::filesystem::path root = std::filesystem::current_path();
  while (!std::filesystem::exists(root / "profiles/batch") && root.has_relative_path())
    root = root.parent_path();
  std::ifstream file(root / "profiles/batch" / (name + ".json"));
  std::stringstream text;
  text << file.rdbuf();
  auto system = read_batch_system(name, Json::parse(text.str()));
  EXPECT_TRUE(system) << name;
  return *system;
}

Placeholders values() {
  return {{"n", "4"},
          {"queue", ""},
          {"account", ""},
          {"qos", ""},
          {"timelimit", ""},
          {"cluster_id", "ab"},
          {"profile_dir", "/p"},
          {"output_file", "/p/log"},
          {"setup", ""},
          {"environment", ""},
          {"program_and_args", "pxengine --mpi"},
          {"srun_options", "--mpi=pmix"},
          {"wrapper", "/p/w.sh"},
          {"options", ""}};
}

std::string script_of(const std::string& name, Placeholders given = values(),
                      const std::vector<std::string>& options = {}) {
  const BatchSystem system = system_of(name);
  auto text = render_batch_script(system, system.engines, given, options, true);
  EXPECT_TRUE(text) << text.error().what;
  return *text;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(BatchTemplate, FillsNamesInAndKeepsTheShellsBraces) {
  EXPECT_EQ(*fill_in("{n} x ${{HOME}} {n}", {{"n", "4"}}), "4 x ${HOME} 4");
}

TEST(BatchTemplate, NamesAPlaceholderThatNobodyKnows) {
  const auto filled = fill_in("{walltime}", {{"n", "4"}, {"queue", ""}});
  ASSERT_FALSE(filled);
  EXPECT_TRUE(has(filled.error().what, "{walltime}"));
  EXPECT_TRUE(has(filled.error().what, "{n}, {queue}"));
  EXPECT_FALSE(fill_in("${HOME", {}));
  EXPECT_FALSE(fill_in("}", {}));
}

TEST(BatchScript, PutsWhatTheUserSaysBehindTheFirstLine) {
  Placeholders given = values();
  given["queue"] = "short";
  given["account"] = "physics";
  given["timelimit"] = "1:00:00";
  EXPECT_EQ(script_of("slurm", given, {"--mem=4G", "--exclusive"}),
            "#!/bin/sh\n#SBATCH --ntasks=4\n#SBATCH --partition=short\n#SBATCH --account=physics\n"
            "#SBATCH --time=1:00:00\n#SBATCH --output=/p/log\n#SBATCH --open-mode=append\n"
            "#SBATCH --mem=4G\n#SBATCH --exclusive\n#SBATCH --export=ALL\n"
            "#SBATCH --job-name=ipengine-ab\n\n\nexec srun --mpi=pmix pxengine --mpi\n");
}

TEST(BatchScript, AddsNothingThatTheUsersTemplateSaysItself) {
  const BatchSystem slurm = system_of("slurm");
  Placeholders given = values();
  given["queue"] = "short";
  const auto text = render_batch_script(
      slurm,
      "#!/bin/sh\n#SBATCH -p long -n 2\n#SBATCH -n 2\n#SBATCH -o here\nsrun {program_and_args}\n",
      given, {}, true);
  EXPECT_EQ(*text,
            "#!/bin/sh\n#SBATCH --open-mode=append\n#SBATCH -p long -n 2\n#SBATCH -n 2\n"
            "#SBATCH -o here\nsrun pxengine --mpi\n");
}

TEST(BatchScript, AsksForAnArrayAsEachSystemWritesIt) {
  EXPECT_TRUE(has(script_of("pbs"), "#PBS -J 1-4\n"));
  EXPECT_TRUE(has(script_of("torque"), "#PBS -t 1-4\n"));
  EXPECT_TRUE(has(script_of("sge"), "#$ -t 1-4\n"));
  EXPECT_TRUE(has(script_of("lsf"), "#BSUB -J \"ipengine-ab[1-4]\"\n"));
  EXPECT_TRUE(script_of("htcondor").ends_with("queue 4\n"));
}

TEST(BatchScript, AnArrayOfOneIsNoneForPbs) {
  Placeholders given = values();
  given["n"] = "1";
  EXPECT_FALSE(has(script_of("pbs", given), "-J"));
}

TEST(BatchSystem, ReadsTheIdOfAJob) {
  const auto id = [](const char* system, const char* answer) {
    return read_job_id(system_of(system).job_id_regexp, answer).value_or("none");
  };
  EXPECT_EQ(id("slurm", "Submitted batch job 17\n"), "17");
  EXPECT_EQ(id("pbs", "1234[].server\n"), "1234[].server");
  EXPECT_EQ(id("pbs", "1234.server\n"), "1234.server");
  EXPECT_EQ(id("torque", "77[].host\n"), "77[].host");
  EXPECT_EQ(id("sge", "Your job-array 9.1-4:1 (\"ipengine\") has been submitted\n"), "9");
  EXPECT_EQ(id("sge", "Your job 10 (\"ipcontroller\") has been submitted\n"), "10");
  EXPECT_EQ(id("lsf", "Job <312> is submitted to default queue <normal>.\n"), "312");
  EXPECT_EQ(id("htcondor", "Submitting job(s)....\n4 job(s) submitted to cluster 5.\n"), "5");
  EXPECT_EQ(id("slurm", "sbatch: error: invalid partition\n"), "none");
}

JobState state(const char* system, const char* answer, const char* id = "17") {
  return read_job_state(system_of(system), id, answer);
}

TEST(JobState, OfSlurm) {
  const char* waiting =
      "JobId=17 JobName=x JobState=PENDING Reason=Resources Dependency=(null) "
      "ExitCode=0:0 ReqNodeList=(null) NodeList=(null)\n";
  EXPECT_EQ(state("slurm", waiting), (JobState{JobPhase::waiting, "PENDING", "Resources", ""}));
  const char* running =
      "JobId=17 JobState=RUNNING Reason=None ExitCode=0:0 EndTime=2026-11-28T18:30:00 "
      "ReqNodeList=(null) ExcNodeList=(null) NodeList=host[1-2] BatchHost=host1\n";
  EXPECT_EQ(state("slurm", running),
            (JobState{JobPhase::running, "RUNNING", "", "host[1-2]", "2026-11-28 18:30:00"}));
  const char* late = "JobId=17 JobState=TIMEOUT Reason=TimeLimit ExitCode=0:15 NodeList=host1\n";
  const JobState ended = state("slurm", late);
  EXPECT_EQ(ended.kind, JobPhase::ended);
  EXPECT_EQ(end_of_job(system_of("slurm"), ended, ""),
            "TIMEOUT: it ran into its time limit (--time); TimeLimit, 0:15");
  EXPECT_EQ(state("slurm", "").kind, JobPhase::gone);
}

TEST(JobState, OfTheOthers) {
  EXPECT_EQ(state("pbs", "Job Id: 17.s\n    job_state = Q\n    comment = Not Running: no cores\n"),
            (JobState{JobPhase::waiting, "Q", "Not Running: no cores", ""}));
  EXPECT_EQ(state("pbs", "    job_state = R\n    exec_host = n1/0\n").hosts, "n1/0");
  EXPECT_EQ(state("torque", "    job_state = C\n    exit_status = 271\n"),
            (JobState{JobPhase::ended, "C", "271", ""}));
  const char* listing =
      "job-ID  prior   name  user state submit/start at queue\n"
      "-----------------------------------\n"
      "     16 0.5 other ann  r  11/22/2026\n     17 0.5 ipengine ann  qw  11/22\n";
  EXPECT_EQ(state("sge", listing).kind, JobPhase::waiting);
  EXPECT_EQ(state("sge", listing, "16").kind, JobPhase::running);
  EXPECT_EQ(state("sge", listing, "6").kind, JobPhase::gone);
  EXPECT_EQ(state("lsf", "PEND|-|-|-\n").kind, JobPhase::waiting);
  EXPECT_EQ(state("lsf", "RUN|-|n1|-\n"), (JobState{JobPhase::running, "RUN", "", "n1"}));
  EXPECT_EQ(
      state("lsf", "EXIT|140|n1|TERM_RUNLIMIT: job killed after reaching LSF run time limit\n")
          .detail,
      "140, TERM_RUNLIMIT: job killed after reaching LSF run time limit");
  EXPECT_EQ(state("htcondor", "1 undefined\n").kind, JobPhase::waiting);
  EXPECT_EQ(state("htcondor", "5 no such file\n").detail, "no such file");
  EXPECT_EQ(state("htcondor", "2 undefined\n2 undefined\n").kind, JobPhase::running);
  EXPECT_EQ(state("htcondor", "").kind, JobPhase::gone);
}

TEST(JobState, OfAJobThatIsGoneComesFromTheBooks) {
  const char* account =
      "jobnumber    17\nfailed       37  : qmaster enforced h_rt limit\n"
      "exit_status  137\n";
  EXPECT_EQ(end_of_job(system_of("sge"), {}, account), "37  : qmaster enforced h_rt limit, 137");
  EXPECT_EQ(end_of_job(system_of("sge"), {}, ""), "the batch system gives no reason");
}

TEST(JobPlan, TravelsAsJsonWithItsBatchSystem) {
  for (const char* name : {"slurm", "pbs", "torque", "sge", "lsf", "htcondor"}) {
    JobPlan plan;
    plan.system = system_of(name);
    plan.engine_count = 4;
    plan.script_file = "/p/engines.sh";
    const auto back = read_job_plan(write_job_plan(plan));
    ASSERT_TRUE(back) << name;
    EXPECT_EQ(write_job_plan(*back), write_job_plan(plan)) << name;
    EXPECT_EQ(back->script_file, plan.script_file);
    EXPECT_EQ(back->system.name, name);
    EXPECT_EQ(back->system.engines, plan.system.engines);
  }
  EXPECT_FALSE(read_job_plan(Json::object()));
  EXPECT_FALSE(read_job_plan({{"system", {{"name", "x"}, {"description", Json::object()}}}}));
}

}  // namespace
}  // namespace px::cluster
