#include "cluster/supervise/supervisor.hpp"

#include <algorithm>
#include <csignal>

#include "wire/counted.hpp"

namespace px::cluster {
namespace {

constexpr Duration hub_patience = std::chrono::seconds(10);

std::string with_log(const std::string& log, const std::string& tail) {
  if (tail.empty()) return "; its log is empty: " + log;
  std::string text = "; the last lines of its log, " + log + ":";
  std::size_t begin = 0;
  while (begin < tail.size()) {
    const std::size_t end = std::min(tail.find('\n', begin), tail.size());
    text += "\n    | " + tail.substr(begin, end - begin);
    begin = end + 1;
  }
  return text;
}

/// "ended with exit code 1; the end of its log, ...", or why it could not be started.
std::string reason(const ProcessEnded& event, const PlannedProcess& process) {
  if (!event.failure.empty()) return "could not be started: " + event.failure;
  if (process.command.has_reports) return event.end.text();  // it has said why
  return event.end.text() + with_log(process.command.log_file.string(), event.log_tail);
}

std::string last_line(const ProcessEnded& event) {
  const std::string& tail = event.log_tail;
  if (tail.empty()) return "its log is empty";
  const std::size_t end = tail.rfind('\n', tail.size() - 2);
  return end == std::string::npos ? tail : tail.substr(end + 1);
}

}  // namespace

// ---------------------------------------------------------------- events

Supervisor::Supervisor(StartPlan plan) : plan_(std::move(plan)) {
  int number = 0;
  for (const PlannedProcess& process : plan_.engines.processes) {
    full_counts_.push_back(process.engine_count);
    begins_.push_back(std::exchange(number, number + process.engine_count));
  }
  if (plan_.respawn_limit > 0) respawns_.emplace(plan_.respawn_limit);
  choose({});
}

std::vector<Effect> Supervisor::begin(Instant now) {
  for (const std::string& note : plan_.engines.notes) say(Level::info, note);
  report_scale();
  if (plan_.controller) {
    effects_.push_back(StartProcess{controller_process, plan_.controller->command,
                                    plan_.controller->has_children});
    deadline_ = now + plan_.controller_timeout;
  } else {
    phase_ = Phase::counting;
    deadline_ = now + hub_patience;
    effects_.push_back(WatchEngines{true});
  }
  return take();
}

std::vector<Effect> Supervisor::on(const Event& event, Instant now) {
  if (phase_ != Phase::ended) std::visit([&](const auto& body) { handle(body, now); }, event);
  return take();
}

std::optional<Instant> Supervisor::next_deadline() const {
  return earlier(earlier(deadline_, controller_due_), next_upkeep());
}

std::vector<Effect> Supervisor::on_time(Instant now) {
  if (controller_due_ && now >= *controller_due_) start_controller_again();
  kill_ended(now);
  respawn(now);
  if (!deadline_ || now < *deadline_) return take();
  deadline_.reset();
  switch (phase_) {
    case Phase::controller_starting:
      fail("the controller did not write " + plan_.client_file + " within " +
               format_duration(plan_.controller_timeout) + "; see its log " +
               plan_.controller->command.log_file.string(),
           now);
      break;
    case Phase::counting:
      fail("no controller answers at the address in " + plan_.client_file + " within " +
               format_duration(hub_patience) +
               ": start a cluster, or remove an old file with `pxcluster clean`",
           now);
      break;
    case Phase::pausing:
      start_engines(now);
      break;
    case Phase::registering:
      report_missing_engines(now);
      break;
    case Phase::ending_engines:
      kill_engines(now);
      break;
    case Phase::leaving_engines:
      start_engines(now);
      break;
    case Phase::stopping_engines:
    case Phase::stopping_controller:
      if (was_killed_) {
        say(Level::error, "some processes did not end within " + format_duration(plan_.patience) +
                              " after SIGKILL");
        finish();
      } else {
        say(Level::warning, "some processes did not end within " + format_duration(plan_.patience) +
                                " after SIGTERM; sending SIGKILL");
        kill_all();
        deadline_ = now + plan_.patience;
      }
      break;
    case Phase::running:
    case Phase::ended:
      break;
  }
  return take();
}

void Supervisor::handle(const ProcessStarted& event, Instant now) {
  pids_[event.key] = event.pid;
  if (planned(event.key).has_children) sessions_[event.key] = event.pid;
  if (event.key == controller_process) {
    effects_.push_back(WatchFiles{});
    if (phase_ != Phase::controller_starting) save_record();
    return;
  }
  if (--unstarted_engines_ > 0) return;
  save_record();
  check_registered(now);
}

void Supervisor::handle(const ProcessEnded& event, Instant now) {
  const auto running = pids_.find(event.key);
  if (running != pids_.end()) {
    if (planned(event.key).has_children)
      effects_.push_back(SendSignal{running->second, SIGTERM, true});
    report_death(event, running->second);
    pids_.erase(running);
  } else if (event.key != controller_process && unstarted_engines_ > 0) {
    --unstarted_engines_;
  }
  if (event.key == controller_process)
    controller_ended(event, now);
  else
    engine_ended(event, now);
}

void Supervisor::handle(const ProcessReported& event, Instant now) {
  if (!event.text.empty()) say(event.level, event.text);
  if (event.is_waiting && phase_ == Phase::registering) deadline_ = now + plan_.engine_timeout;
  if (event.is_waiting && phase_ == Phase::controller_starting)
    deadline_ = now + plan_.controller_timeout;
  if (!event.engine_count || !pids_.contains(event.key)) return;
  int& count = planned(event.key).engine_count;
  if (respawns_ && has_reported_ && event.level == Level::warning && *event.engine_count > 0 &&
      *event.engine_count < count && !ended_.contains(event.key)) {
    watchers_with_dead_.insert(event.key);
    effects_.push_back(WatchEngines{true});
  }
  if (phase_ == Phase::registering && chosen_.contains(event.key))
    exited_ += std::max(0, count - *event.engine_count);
  if (phase_ == Phase::registering && parts_.contains(event.key) && count > *event.engine_count) {
    exited_ += count - *event.engine_count;
    unstarted_parts_ += count - *event.engine_count;
    if (first_exit_.empty()) first_exit_ = "did not start";
  }
  count = *event.engine_count;
  if (is_stopping()) return;
  if (unstarted_engines_ == 0 && *event.engine_count > 0) save_record();
  if (*event.engine_count > 0) check_registered(now);
}

void Supervisor::controller_ended(const ProcessEnded& event, Instant now) {
  if (phase_ == Phase::stopping_controller) return finish();
  if (is_stopping()) return;
  if (phase_ == Phase::controller_starting)
    return fail("the controller " + reason(event, *plan_.controller), now);
  const bool was_asked = !event.end.is_failure() || event.end.signal == SIGTERM;
  if (!was_asked) return restart_controller(event, now);
  say(Level::info, "the controller has stopped: stopping the engines");
  begin_stop(now);
}

void Supervisor::restart_controller(const ProcessEnded& event, Instant now) {
  const bool has_served = controller_restarts_.is_serving();
  const std::string why = reason(event, *plan_.controller);
  if (plan_.takes_over.empty()) return fail("the controller " + why, now);
  controller_due_ = controller_restarts_.ended(now);
  if (!controller_due_ && has_served)
    return fail("the controller has crashed " +
                    std::to_string(ControllerRestarts::most_crashes + 1) + " times within " +
                    format_duration(ControllerRestarts::time_of_crashes) + "; this time it " + why,
                now);
  if (!controller_due_)
    return fail("the controller could not be started again for " +
                    format_duration(ControllerRestarts::patience) + "; this time it " + why,
                now);
  const Duration pause = *controller_due_ - now;
  const std::string when = pause > Duration::zero() ? " in " + format_duration(pause) : "";
  if (has_served) {
    say(Level::warning, "the controller " + why);
    say(Level::warning,
        "starting the controller again" + when +
            ": engines and clients reconnect to it and send unanswered requests again");
  } else {
    const std::string failure =
        event.failure.empty() ? "it " + event.end.text() + ": " + last_line(event) : event.failure;
    say(Level::warning,
        "the controller could not be started again: " + failure + "; trying again" + when);
  }
  if (pause <= Duration::zero()) start_controller_again();
}

void Supervisor::start_controller_again() {
  controller_due_.reset();
  Command command = plan_.controller->command;
  command.argv.insert(command.argv.end(), plan_.takes_over.begin(), plan_.takes_over.end());
  effects_.push_back(
      StartProcess{controller_process, std::move(command), plan_.controller->has_children});
}

void Supervisor::engine_ended(const ProcessEnded& event, Instant now) {
  const bool is_last = running_engines().empty() && unstarted_engines_ == 0;
  note_exit(event);
  if (is_stopping()) {
    if (is_last && phase_ == Phase::stopping_engines) stop_controller(now);
    return;
  }
  if (is_ending_engines() && chosen_.contains(event.key)) {
    if (phase_ == Phase::ending_engines && running_chosen().empty()) engines_are_gone(now);
    return;
  }
  if (takes_care_of(event, now)) return;
  if (is_last && !is_ending_engines()) return last_engine_ended(event, now);
  say(event.end.is_failure() ? Level::warning : Level::info,
      "engine process " + std::to_string(event.key.value) + " " +
          reason(event, planned(event.key)));
  if (unstarted_engines_ == 0) save_record();
  check_registered(now);
}

/// Of an engine that is a process of its own: else who started it there tells.
void Supervisor::report_death(const ProcessEnded& event, int pid) {
  const PlannedProcess& process = planned(event.key);
  if (event.key == controller_process || is_stopping() || process.engine_count != 1 ||
      process.has_children || process.command.has_reports)
    return;
  effects_.push_back(ReportDeath{pid, event.end, process.command.log_file});
}

void Supervisor::note_exit(const ProcessEnded& event) {
  if (phase_ != Phase::registering || !chosen_.contains(event.key)) return;
  exited_ += planned(event.key).engine_count;
  if (first_exit_.empty())
    first_exit_ =
        event.failure.empty() ? event.end.text() : "could not be started: " + event.failure;
}

/// "2 of 4 engines exited".
std::string Supervisor::exited_engines() const {
  return std::to_string(exited_) + " of " + counted(started_, "engine") + " exited";
}

void Supervisor::last_engine_ended(const ProcessEnded& event, Instant now) {
  const std::string why = reason(event, planned(event.key));
  const bool has_one = plan_.engines.processes.size() == 1;
  const bool is_early = now - engines_started_ < plan_.early;
  const std::string text =
      phase_ == Phase::registering
          ? exited_engines() + (registered_ == 0 ? " before they registered; " : "; ") +
                (has_one ? "their process " + why
                         : "the first " + first_exit_ + ", the last " + why)
          : (has_one ? "the process of the engines " : "the last engine ") + why;
  if (is_early && !(has_reported_ && has_registered_)) return fail(text, now);
  say(Level::warning, text);
  report_restart(text);
  if (!plan_.controller) return begin_stop(now);
  say(Level::warning,
      "no engine is running any more; the controller keeps running: start the engines again with "
      "`pxcluster restart`");
  save_record();
  run_on(now);
}

void Supervisor::handle(const FilesReady& event, Instant now) {
  controller_restarts_.serves();
  if (phase_ != Phase::controller_starting) return;
  had_files_ = true;
  plan_.engine_info = event.engine_info;
  save_record();
  effects_.push_back(WatchEngines{true});
  if (plan_.delay <= Duration::zero()) return start_engines(now);
  phase_ = Phase::pausing;
  deadline_ = now + plan_.delay;
}

void Supervisor::handle(const EnginesCounted& event, Instant now) {
  if (phase_ == Phase::counting) {
    baseline_ = event.count;
    is_world_ = event.count == 0;
    return start_engines(now);
  }
  learn_ids(event.placed);
  placed_ = event.placed;
  if (!watchers_with_dead_.empty()) look_for_dead(now);
  const int placed = count_placed();
  says_places_ = says_places_ || placed > 0;
  if (phase_ == Phase::leaving_engines && (says_places_ ? placed == 0 : event.count <= baseline_)) {
    baseline_ = event.count;
    return start_engines(now);
  }
  if (phase_ == Phase::ending_engines && has_ranks_here() && says_places_ && placed == 0 &&
      !was_killed_)
    return kill_engines(now);
  if (phase_ != Phase::registering) return;
  for (const std::string& warning : event.warnings)
    if (told_warnings_.insert(warning).second) say(Level::warning, warning);
  const int registered = says_places_ ? count_registered() : std::max(0, event.count - baseline_);
  if (registered != registered_) effects_.push_back(ShowProgress{registered, wanted_engines()});
  registered_ = registered;
  has_registered_ = has_registered_ || registered > 0;
  check_registered(now);
}

void Supervisor::handle(const SignalArrived& event, Instant now) {
  if (event.signal == SIGUSR1 || event.signal == SIGUSR2) {
    for (const ProcessKey key : running_engines())
      effects_.push_back(SendSignal{pids_.at(key), event.signal, false});
    return;
  }
  if (is_stopping()) {
    say(Level::warning, os::signal_name(event.signal) + " again: sending SIGKILL");
    kill_all();
    return;
  }
  say(Level::info, os::signal_name(event.signal) + ": stopping the cluster");
  begin_stop(now);
}

void Supervisor::handle(const OwnerEnded& event, Instant now) {
  if (is_stopping()) return;
  say(Level::info,
      event.who + " has ended: stopping " + (plan_.controller ? "the cluster" : "the engines"));
  begin_stop(now);
}

void Supervisor::handle(const OwnerLeft&, Instant) {
  plan_.owner = 0;
  if (!is_stopping() && !pids_.empty()) save_record();
}

// ---------------------------------------------------------------- starting

void Supervisor::start_engines(Instant now) {
  phase_ = Phase::registering;
  engines_started_ = now;
  deadline_ = now + plan_.engine_timeout;
  unstarted_engines_ = chosen_.size();
  registered_ = started_ = exited_ = unstarted_parts_ = 0;
  first_exit_.clear();
  const std::string info = own_engine_info();
  for (const ProcessKey key : chosen_) {
    const auto index = static_cast<std::size_t>(key.value);
    absent_.erase(key);
    for (int i = 0; respawns_ && i < full_counts_[index]; ++i)
      respawns_->forget(begins_[index] + i);
    PlannedProcess& process = planned(key);
    process.engine_count = full_counts_[index];
    process.command.environment["IPP_CONNECTION_INFO"] = info;
    process.command.environment["PX_ENGINE_NUMBER"] = std::to_string(begins_[index]);
    started_ += process.engine_count;
    effects_.push_back(StartProcess{key, process.command, process.has_children});
  }
  replaced_.clear();
  for (const PlacedEngine& engine : placed_)
    if (is_part(engine)) replaced_.insert(engine.uuid);
  for (const auto& [key, places] : parts_) {
    started_ += static_cast<int>(places.size());
    if (pids_.contains(key)) effects_.push_back(OrderRestart{pids_.at(key), {places, info}});
  }
  effects_.push_back(ShowProgress{0, wanted_engines()});
  check_registered(now);
}

void Supervisor::check_registered(Instant now) {
  if (phase_ != Phase::registering || unstarted_engines_ > 0) return;
  if (registered_ < wanted_engines()) return;
  if (wanted_engines() == 0 && !running_chosen().empty()) return;  // they are about to end
  say(Level::info, counted(registered_, "engine") + (registered_ == 1 ? " is" : " are") + " ready");
  become_ready(now);
}

void Supervisor::report_missing_engines(Instant now) {
  std::string logs;
  for (const ProcessKey key : running_chosen()) {
    if (logs.size() > 400) {
      logs += " ...";
      break;
    }
    logs += " " + planned(key).command.log_file.string();
  }
  say(Level::warning, missing_engines() + "; the cluster keeps running. See" + logs);
  become_ready(now);
}

std::string Supervisor::missing_engines() const {
  return std::to_string(wanted_engines() - registered_) + " of " +
         counted(wanted_engines(), "engine") + " did not register within " +
         format_duration(plan_.engine_timeout);
}

void Supervisor::become_ready(Instant now) {
  std::string problem;
  if (!first_exit_.empty()) problem = exited_engines() + "; the first " + first_exit_;
  if (!problem.empty()) say(Level::warning, problem);
  if (problem.empty() && registered_ < wanted_engines()) problem = missing_engines();
  report_restart(problem);
  note_respawned();
  run_on(now);
}

/// The engines are no longer waited for, however many there are.
void Supervisor::run_on(Instant now) {
  phase_ = Phase::running;
  is_own_start_ = false;
  deadline_.reset();
  if (watchers_with_dead_.empty()) effects_.push_back(WatchEngines{false});
  if (!std::exchange(has_reported_, true)) effects_.push_back(ReportReady{registered_});
  if (const auto asked = std::exchange(waiting_restart_, std::nullopt)) handle(*asked, now);
}

// ---------------------------------------------------------------- stopping

void Supervisor::fail(const std::string& text, Instant now) {
  say(Level::error, text);
  exit_code_ = 1;
  begin_stop(now);
}

void Supervisor::begin_stop(Instant now) {
  if (std::exchange(waiting_restart_, std::nullopt)) is_restarting_ = true;
  report_restart("the cluster stops");
  was_killed_ = false;
  effects_.push_back(WatchEngines{false});
  if (scaler_.is_on()) effects_.push_back(WatchLoad{false});
  scaler_.stop();
  respawns_.reset();
  phase_ = Phase::stopping_engines;
  controller_due_.reset();
  unstarted_engines_ = 0;
  const auto engines = running_engines();
  if (engines.empty()) return stop_controller(now);
  effects_.push_back(AnnounceEnd{plan_.engine_set_id, "pxcluster stopped it"});
  for (const ProcessKey key : engines)
    effects_.push_back(SendSignal{pids_.at(key), SIGTERM, false});
  deadline_ = now + plan_.patience;
}

void Supervisor::stop_controller(Instant now) {
  phase_ = Phase::stopping_controller;
  if (!pids_.contains(controller_process)) return finish();
  effects_.push_back(SendSignal{pids_.at(controller_process), SIGTERM, false});
  deadline_ = now + plan_.patience;
}

void Supervisor::kill_all() {
  was_killed_ = true;
  for (const auto& [key, pid] : pids_) effects_.push_back(SendSignal{pid, SIGKILL, true});
}

void Supervisor::finish() {
  phase_ = Phase::ended;
  deadline_.reset();
  for (const auto& [key, session] : sessions_)
    effects_.push_back(SendSignal{session, SIGKILL, true});
  if (plan_.controller && had_files_ && !plan_.keeps_files)
    effects_.push_back(RemoveConnectionFiles{});
  effects_.push_back(SaveRecord{ClusterRecord{}});
  effects_.push_back(EndRun{exit_code_});
}

// ---------------------------------------------------------------- looking

std::vector<ProcessKey> Supervisor::running_engines() const {
  std::vector<ProcessKey> keys;
  for (const auto& [key, pid] : pids_)
    if (key != controller_process) keys.push_back(key);
  return keys;
}

std::vector<ProcessKey> Supervisor::running_chosen() const {
  std::vector<ProcessKey> keys = running_engines();
  std::erase_if(keys, [this](ProcessKey key) { return !chosen_.contains(key); });
  return keys;
}

/// Of those that are being started.
int Supervisor::wanted_engines() const {
  int count = -unstarted_parts_;
  for (const auto& [key, places] : parts_)
    if (pids_.contains(key)) count += static_cast<int>(places.size());
  for (const ProcessKey key : chosen_)
    if (unstarted_engines_ > 0 || pids_.contains(key)) count += planned(key).engine_count;
  return count;
}

const PlannedProcess& Supervisor::planned(ProcessKey key) const {
  if (key == controller_process) return *plan_.controller;
  return plan_.engines.processes.at(static_cast<std::size_t>(key.value));
}

PlannedProcess& Supervisor::planned(ProcessKey key) {
  if (key == controller_process) return *plan_.controller;
  return plan_.engines.processes.at(static_cast<std::size_t>(key.value));
}

void Supervisor::save_record() {
  ClusterRecord own = plan_.record;
  const auto recorded = [&](ProcessKey key) {
    return RecordedProcess{.pid = pids_.at(key),
                           .output_file = planned(key).command.log_file.string(),
                           .engine_count = planned(key).engine_count,
                           .supervisor = plan_.supervisor,
                           .owner = plan_.owner};
  };
  if (pids_.contains(controller_process)) own.controller = recorded(controller_process);
  RecordedEngineSet set{.launcher = own.engine_launcher, .processes = {}};
  if (plan_.started_by != own.engine_launcher) set.started_by = plan_.started_by;
  for (const ProcessKey key : running_engines())
    set.processes[std::to_string(key.value)] = recorded(key);
  if (!set.processes.empty()) own.engine_sets[plan_.engine_set_id] = std::move(set);
  effects_.push_back(SaveRecord{std::move(own)});
  report_scale();
}

}  // namespace px::cluster
