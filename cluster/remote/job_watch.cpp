#include "cluster/remote/job_watch.hpp"

#include <algorithm>

namespace px::cluster {
namespace {

constexpr int most_failures = 5;

/// A command that takes longer has failed. One that submits may have to wait for its job's turn to
/// be taken in.
constexpr Duration answer_patience = std::chrono::seconds(60);
constexpr Duration submission_patience = std::chrono::minutes(10);
/// For a submission to be answered when the job is to end: then this process is killed.
constexpr Duration submit_stop_patience = std::chrono::seconds(12);

/// A batch system that thousands ask every second is a slow one.
Duration interval(Duration age, bool is_stopping) {
  if (is_stopping) return std::chrono::milliseconds(200);
  if (age < std::chrono::seconds(10)) return std::chrono::milliseconds(500);
  return age < std::chrono::minutes(2) ? std::chrono::seconds(2) : std::chrono::seconds(10);
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(JobPlan, system, what, engine_count, script, script_file,
                                   wrapper, wrapper_file, output_file, end_file)

Json write_job_plan(const JobPlan& plan) {
  return plan;
}

Result<JobPlan> read_job_plan(const Json& json) try {
  return json.get<JobPlan>();
} catch (const Json::exception& failure) {
  return Error{ErrorKind::bad_input, std::string("not the plan of a job: ") + failure.what()};
}

std::vector<JobEffect> JobWatch::begin(Instant now) {
  std::vector<std::string> argv = plan_.system.submit;
  if (plan_.system.submits_by_input) {
    ask(Question::submit, argv, now, plan_.script);
  } else {
    argv.push_back(plan_.script_file);
    ask(Question::submit, argv, now);
  }
  return take();
}

std::vector<JobEffect> JobWatch::answered(const BatchAnswer& answer, Instant now) {
  deadline_.reset();
  switch (std::exchange(question_, Question::none)) {
    case Question::submit:
      submitted(answer, now);
      break;
    case Question::status:
      status_told(answer, now);
      break;
    case Question::remove:
      if (answer.is_failure && !answer.complaint.empty())
        tell(Level::debug, plan_.system.remove.front() + ": " + answer.complaint);
      look_again(now);
      break;
    case Question::epitaph:
      end(end_of_job(plan_.system, last_, answer.out));
      break;
    case Question::none:
      break;
  }
  return take();
}

void JobWatch::submitted(const BatchAnswer& answer, Instant now) {
  const auto id = read_job_id(plan_.system.job_id_regexp, answer.out);
  if (answer.is_failure || !id) {
    const std::string said = answer.complaint.empty() ? answer.out : answer.complaint;
    tell(Level::error,
         plan_.system.submit.front() + " refused the job of the " + plan_.what +
             (answer.is_failure ? "" : " (its answer has no job id)") + ": " +
             (said.empty() ? "it printed nothing" : said),
         0);
    return finish(1);
  }
  job_id_ = *id;
  submitted_at_ = now;
  tell(Level::info, "the " + plan_.what + (plan_.what == "controller" ? " is " : " are ") + job());
  if (is_stopping_) return remove_job(now);
  look_again(now);
}

void JobWatch::status_told(const BatchAnswer& answer, Instant now) {
  const JobState state = read_job_state(plan_.system, job_id_, answer.out);
  if (answer.is_failure && is_stopping_ && !is_removed_) return remove_job(now);
  if (state.kind == JobPhase::gone && answer.is_failure && !is_stopping_ &&
      ++failures_ < most_failures)
    return look_again(now);  // the batch system may be overloaded, or not know it yet
  if (state.kind == JobPhase::gone || state.kind == JobPhase::ended) return job_ended(state, now);
  failures_ = 0;
  if (is_stopping_ && !is_removed_) return remove_job(now);
  tell_change(state);
  look_again(now);
}

void JobWatch::tell_change(const JobState& state) {
  const bool is_waiting = state.kind == JobPhase::waiting;
  const bool is_news = state.kind != last_.kind || (is_waiting && state.detail != last_.detail);
  const bool is_end_news = state.kind != last_.kind || state.end != last_.end;
  if (!plan_.end_file.empty() && !is_waiting && is_end_news && !state.end.empty())
    effects_.push_back(RecordEnd{job() + " ends at " + state.end});
  last_ = state;
  WatchReport report{
      .level = Level::info, .text = "", .engine_count = {}, .is_waiting = is_waiting};
  if (is_news && is_waiting)
    report.text = job() + " waits" + (state.detail.empty() ? "" : ": " + state.detail);
  else if (is_news)
    report.text = job() + " runs" + (state.hosts.empty() ? "" : " on " + state.hosts) +
                  (state.end.empty() ? "" : " until " + state.end);
  if (is_waiting || is_news) effects_.push_back(TellReport{std::move(report)});
}

void JobWatch::job_ended(const JobState& state, Instant now) {
  if (is_stopping_) return finish(0);
  const bool is_told = state.kind == JobPhase::ended && !plan_.system.meanings.empty();
  last_ = state;
  if (is_told || plan_.system.epitaph.empty()) return end(end_of_job(plan_.system, state, ""));
  ask(Question::epitaph, with_id(plan_.system.epitaph), now);
}

void JobWatch::end(const std::string& reason) {
  tell(Level::warning, job() + " of the " + plan_.what + " has ended: " + reason, 0);
  finish(1);
}

std::vector<JobEffect> JobWatch::stop(Instant now) {
  if (is_stopping_ || is_ended_) return {};
  is_stopping_ = true;
  if (!job_id_.empty() && question_ == Question::none) remove_job(now);
  if (question_ == Question::submit && deadline_)
    deadline_ = std::min(*deadline_, now + submit_stop_patience);
  return take();
}

void JobWatch::remove_job(Instant now) {
  is_removed_ = true;
  std::vector<std::string> argv = plan_.system.remove;
  argv.push_back(job_id_);
  ask(Question::remove, argv, now);
}

std::vector<JobEffect> JobWatch::on_time(Instant now) {
  if (!deadline_ || now < *deadline_) return {};
  deadline_.reset();
  if (question_ == Question::submit && is_stopping_) {
    tell(Level::warning,
         plan_.system.submit.front() + " has not answered for " +
             format_duration(submit_stop_patience) +
             " since the stop and was ended; its job may still be in the queue: look for it "
             "with " +
             plan_.system.status.front() + ", and delete it with " + plan_.system.remove.front(),
         0);
    finish(1);
    return take();
  }
  if (question_ != Question::none) return answered({true, "", "it did not answer in time"}, now);
  if (is_stopping_ && !is_removed_)
    remove_job(now);
  else
    ask(Question::status, with_id(plan_.system.status), now);
  return take();
}

void JobWatch::ask(Question question, const std::vector<std::string>& argv, Instant now,
                   std::string input) {
  question_ = question;
  deadline_ = now + (question == Question::submit ? submission_patience : answer_patience);
  effects_.push_back(AskBatchSystem{argv, std::move(input)});
}

void JobWatch::look_again(Instant now) {
  deadline_ = now + interval(now - submitted_at_, is_stopping_);
}

void JobWatch::finish(int exit_code) {
  is_ended_ = true;
  deadline_.reset();
  effects_.push_back(EndJobWatch{exit_code});
}

void JobWatch::tell(Level level, std::string text, std::optional<int> engine_count) {
  effects_.push_back(TellReport{{level, std::move(text), engine_count, false}});
}

std::vector<std::string> JobWatch::with_id(std::vector<std::string> argv) const {
  for (std::string& word : argv)
    if (const std::size_t at = word.find("{job_id}"); at != std::string::npos)
      word.replace(at, 8, job_id_);
  return argv;
}

}  // namespace px::cluster
