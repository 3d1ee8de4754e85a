#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cluster/remote/batch_system.hpp"
#include "cluster/remote/watch_report.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// A job to submit. A value; sent to its watcher as JSON.
struct JobPlan {
  BatchSystem system;
  std::string what = "engines";  ///< Or "controller".
  int engine_count = 0;
  std::string script;       ///< Its text.
  std::string script_file;  ///< Its path while the job exists.
  std::string wrapper;      ///< The second script; may be empty.
  std::string wrapper_file;
  std::string output_file;  ///< Of the job.
  std::string end_file;  ///< Says when the job ends, while it runs: for `pxcluster status`. Empty:
                         ///< no such file.
};
Json write_job_plan(const JobPlan& plan);
/// errors  bad_input: not of that form.
Result<JobPlan> read_job_plan(const Json& json);

/// Run this command, and pass the result to answered(). A command that still runs is ended first.
struct AskBatchSystem {
  std::vector<std::string> argv;
  std::string input;
  bool operator==(const AskBatchSystem&) const = default;
};
struct TellReport {
  WatchReport report;
  bool operator==(const TellReport&) const = default;
};
/// Write this into the end_file of the plan.
struct RecordEnd {
  std::string text;
  bool operator==(const RecordEnd&) const = default;
};
struct EndJobWatch {
  int exit_code = 0;
  bool operator==(const EndJobWatch&) const = default;
};
using JobEffect = std::variant<AskBatchSystem, TellReport, RecordEnd, EndJobWatch>;

/// The answer of a command of the batch system.
struct BatchAnswer {
  bool is_failure = false;
  std::string out;        ///< Its output.
  std::string complaint;  ///< The end of its stderr, or why it could not be run.
};

/// Decides the actions of the watcher of one job: submits it, reports what it waits for and where
/// it runs, reports why it ended, deletes it when ordered. Events in, effects out; uses no process
/// and no clock.
class JobWatch {
 public:
  explicit JobWatch(JobPlan plan) : plan_(std::move(plan)) {}
  std::vector<JobEffect> begin(Instant now);
  std::vector<JobEffect> answered(const BatchAnswer& answer, Instant now);
  /// The cluster must be stopped.
  std::vector<JobEffect> stop(Instant now);
  std::vector<JobEffect> on_time(Instant now);
  std::optional<Instant> next_deadline() const { return deadline_; }
  bool is_ended() const { return is_ended_; }

 private:
  enum class Question { none, submit, status, remove, epitaph };

  void submitted(const BatchAnswer& answer, Instant now);
  void status_told(const BatchAnswer& answer, Instant now);
  void tell_change(const JobState& state);
  void job_ended(const JobState& state, Instant now);
  void ask(Question question, const std::vector<std::string>& argv, Instant now,
           std::string input = "");
  void remove_job(Instant now);
  void look_again(Instant now);
  void end(const std::string& reason);
  void finish(int exit_code);
  void tell(Level level, std::string text, std::optional<int> engine_count = {});
  std::vector<std::string> with_id(std::vector<std::string> argv) const;
  std::vector<JobEffect> take() { return std::exchange(effects_, {}); }
  std::string job() const { return plan_.system.name + " job " + job_id_; }

  JobPlan plan_;
  std::string job_id_;
  JobState last_{};
  Question question_ = Question::none;
  int failures_ = 0;  // of the status command, in a row
  bool is_stopping_ = false;
  bool is_removed_ = false;  // the delete command was run
  bool is_ended_ = false;
  Instant submitted_at_{};
  std::optional<Instant> deadline_;
  std::vector<JobEffect> effects_;
};

}  // namespace px::cluster
