// Engines that come and go while the cluster runs: as there is work, and again after a death.

#include <algorithm>
#include <csignal>

#include "client/targets.hpp"
#include "cluster/supervise/supervisor.hpp"
#include "wire/counted.hpp"

namespace px::cluster {
namespace {

/// For the controller to notice the death of an engine, whose id the next one is to get.
constexpr Duration notice_patience = std::chrono::seconds(15);

/// Whether the process has failed; one that ended with code 0 or by SIGTERM has not.
bool has_died(const ProcessEnded& event) {
  return !event.failure.empty() || (event.end.is_failure() && event.end.signal != SIGTERM);
}

}  // namespace

// ---------------------------------------------------------------- as there is work

void Supervisor::handle(const ScaleAsked& event, Instant) {
  if (is_stopping()) return;
  ++scale_orders_;
  scale_problem_ = begin_scaling(event.order);
  report_scale();
}

/// Returns why it cannot be; empty: it can.
std::string Supervisor::begin_scaling(const ScaleOrder& order) {
  if (order.is_off) {
    std::vector<std::string> drained;
    for (const ProcessKey key : running_engines())
      if (!ended_.contains(key))
        for (std::string& place : places_of(key)) drained.push_back(std::move(place));
    if (scaler_.is_on() && !drained.empty()) effects_.push_back(DrainEngines{drained, false});
    if (scaler_.is_on()) effects_.push_back(WatchLoad{false});
    scaler_.stop();
    say(Level::info, "the number of engines stays as it is from now on");
    return "";
  }
  if (order.least < 0 || order.most < order.least)
    return "the smallest number of engines is larger than the largest one";
  if (std::string problem = add_units(order.most); !problem.empty()) return problem;
  scaler_.wish({order.least, order.most, duration_of(order.idle_s)});
  // An engine of a set that changes is no rank of a world whose size it could be told.
  plan_.engines.ranks.hosts.clear();
  says_places_ = true;
  effects_.push_back(WatchLoad{true, order.most});
  say(Level::info, "the number of engines follows the work from now on: " +
                       std::to_string(order.least) + " to " + counted(order.most, "engine"));
  return "";
}

/// Plans the processes of engines that the set may get. Returns why it cannot be; empty: it can.
std::string Supervisor::add_units(int most) {
  const int known = full_counts_.empty() ? 0 : begins_.back() + full_counts_.back();
  if (!plan_.plan_more) return "these engines cannot be scaled";
  auto more = plan_.plan_more(known, std::max(0, most - known));
  if (!more) return more.error().what;
  int number = known;
  for (PlannedProcess& process : *more) {
    absent_.insert(ProcessKey{static_cast<int>(full_counts_.size())});
    full_counts_.push_back(process.engine_count);
    begins_.push_back(number);
    for (int i = 0; is_world_ && i < process.engine_count; ++i)
      ids_.try_emplace(number + i, EngineId{number + i});
    number += process.engine_count;
    plan_.engines.processes.push_back(std::move(process));
  }
  return "";
}

std::vector<ScaleUnit> Supervisor::scale_units() const {
  std::vector<ScaleUnit> units;
  for (std::size_t i = 0; i < full_counts_.size(); ++i) {
    const ProcessKey key{static_cast<int>(i)};
    const bool is_running = pids_.contains(key);
    const bool is_blocked = (is_running && ended_.contains(key)) ||
                            (!is_running && respawns_ && respawns_->waits(begins_[i]));
    units.push_back({begins_[i], full_counts_[i],
                     is_blocked   ? UnitState::blocked
                     : is_running ? UnitState::running
                                  : UnitState::absent});
  }
  return units;
}

std::vector<std::string> Supervisor::places_of(ProcessKey key) const {
  const auto index = static_cast<std::size_t>(key.value);
  std::vector<std::string> places;
  for (int i = 0; i < full_counts_[index]; ++i)
    places.push_back(plan_.engine_set_id + "/" + std::to_string(begins_[index] + i));
  return places;
}

void Supervisor::handle(const LoadReported& event, Instant now) {
  if (phase_ != Phase::running || !scaler_.is_on()) return;
  learn_ids(event.placed);
  placed_ = event.placed;
  const ScaleSteps steps = scaler_.decide({event.waiting, event.engines}, scale_units(), now);
  const auto key_of = [](std::size_t unit) { return ProcessKey{static_cast<int>(unit)}; };
  const auto drain = [&](const std::vector<std::size_t>& units, bool is_drained) {
    DrainEngines order{{}, is_drained};
    for (const std::size_t unit : units)
      for (std::string& place : places_of(key_of(unit))) order.places.push_back(std::move(place));
    if (!order.places.empty()) effects_.push_back(std::move(order));
  };
  drain(steps.resume, false);
  drain(steps.drain, true);
  int ended = 0, started = 0;
  for (const std::size_t unit : steps.end) {
    end_for_good(key_of(unit), now);
    ended += full_counts_[unit];
  }
  if (ended > 0) {
    const std::string text = counted(ended, "engine") +
                             (ended == 1 ? " ends: it was" : " end: they were") +
                             " without work for " + format_duration(scaler_.wish()->idle);
    say(Level::info, text);
    effects_.push_back(TellEvent{"scaled", text});
  }
  if (!steps.start.empty()) {
    chosen_.clear();
    parts_.clear();
    for (const std::size_t unit : steps.start) {
      chosen_.insert(key_of(unit));
      started += full_counts_[unit];
    }
    const std::string text =
        "starting " + counted(started, "engine") +
        (event.waiting > 0
             ? ": " + counted(event.waiting, "task") + (event.waiting == 1 ? " waits" : " wait")
             : ": there are fewer than " + std::to_string(scaler_.wish()->least));
    say(Level::info, text);
    effects_.push_back(TellEvent{"scaled", text});
    start_missing(now);
  }
  if (ended + started > 0) report_scale();
}

/// Starts chosen_ and parts_ when the controller has noticed the end of those who had their places.
void Supervisor::start_missing(Instant now) {
  is_own_start_ = true;
  was_killed_ = false;
  registered_ = 0;
  effects_.push_back(WatchEngines{true});
  if (count_placed() == 0 && respawning_.empty()) return start_engines(now);
  phase_ = Phase::leaving_engines;
  deadline_ = now + notice_patience;
}

void Supervisor::end_for_good(ProcessKey key, Instant now) {
  absent_.insert(key);
  ended_[key] = now + plan_.patience;
  for (const std::string& place : places_of(key))
    effects_.push_back(
        AnnounceEnd{place, "pxcluster ended it, because there was no work for it", true});
  effects_.push_back(SendSignal{pids_.at(key), SIGTERM, has_ranks_here()});
}

void Supervisor::kill_ended(Instant now) {
  for (auto& [key, due] : ended_) {
    if (due > now) continue;
    if (const auto running = pids_.find(key); running != pids_.end())
      effects_.push_back(SendSignal{running->second, SIGKILL, true});
    due = now + plan_.patience;
  }
}

// ---------------------------------------------------------------- after a death

/// Whether an engine process has ended in a way that this file is about.
bool Supervisor::takes_care_of(const ProcessEnded& event, Instant now) {
  watchers_with_dead_.erase(event.key);
  const bool was_ended = ended_.erase(event.key) > 0;
  // A first start that fails as a whole is a failure, unless something else has killed the engines.
  const bool has_started = has_reported_ || event.end.signal != 0 || !running_engines().empty() ||
                           unstarted_engines_ > 0;
  const bool comes_back = !was_ended && respawns_ && has_started && has_died(event);
  if (!was_ended && !comes_back && !scaler_.is_on()) return false;
  if (!was_ended) {
    const std::string how =
        event.failure.empty() ? event.end.text() : "could not be started: " + event.failure;
    say(event.end.is_failure() ? Level::warning : Level::info,
        "engine process " + std::to_string(event.key.value) + " " + how + "; its log is " +
            planned(event.key).command.log_file.string());
    const auto index = static_cast<std::size_t>(event.key.value);
    for (int i = 0; comes_back && i < full_counts_[index]; ++i) {
      respawns_->died(begins_[index] + i);
      respawned_[begins_[index] + i].why = how;
    }
    if (!comes_back) absent_.insert(event.key);
    if (!comes_back && event.end.is_failure()) scaler_.died(now);
    if (comes_back && respawns_->is_limited(now))
      say(Level::warning, "it is started again later: " + counted(respawns_->most(), "engine") +
                              (respawns_->most() == 1 ? " was" : " were") +
                              " started again within a minute (--respawn-limit)");
  }
  if (unstarted_engines_ == 0) save_record();
  check_registered(now);
  return true;
}

/// Starts engines again that have died.
void Supervisor::respawn(Instant now) {
  if (phase_ != Phase::running || !respawns_) return;
  std::vector<int> due = respawns_->take_due(now);
  if (due.empty()) return;
  // If a process has ended, all engines that it had started are started together.
  std::vector<int> numbers;
  for (const int number : due) {
    const ProcessKey key = origin_of(number).first;
    const auto index = static_cast<std::size_t>(key.value);
    const bool is_whole = !pids_.contains(key);
    for (int i = 0; i < (is_whole ? full_counts_[index] : 1); ++i) {
      const int each = is_whole ? begins_[index] + i : number;
      if (std::find(numbers.begin(), numbers.end(), each) == numbers.end()) numbers.push_back(each);
      respawns_->forget(each);
    }
  }
  if (const std::string problem = choose(numbers); !problem.empty())
    return say(Level::error, "cannot start engines again: " + problem);
  respawning_ = {numbers.begin(), numbers.end()};
  start_missing(now);
}

/// All that are registered now have been started.
void Supervisor::note_respawned() {
  const std::set<int> numbers = std::exchange(respawning_, {});
  std::vector<EngineId> ids;
  for (const PlacedEngine& engine : placed_) {
    if (engine.set != plan_.engine_set_id || !engine.number || !numbers.contains(*engine.number))
      continue;
    RespawnedEngine& entry = respawned_[*engine.number];
    entry.id = engine.id.value;
    ++entry.count;
    ids.push_back(engine.id);
    effects_.push_back(TellEvent{"respawned", "engine " + std::to_string(engine.id.value) +
                                                  " was started again, after it " + entry.why});
  }
  if (ids.empty()) return;
  say(Level::info, client::say_engines(ids) + (ids.size() == 1 ? " was" : " were") + " started again");
  effects_.push_back(RestoreVariables{ids});
  report_scale();
}

/// Finds which engines of a process that watches others have died: those that are not registered.
void Supervisor::look_for_dead(Instant) {
  for (auto key = watchers_with_dead_.begin(); key != watchers_with_dead_.end();) {
    const auto index = static_cast<std::size_t>(key->value);
    std::set<int> missing;
    for (int i = 0; i < full_counts_[index]; ++i) missing.insert(begins_[index] + i);
    for (const PlacedEngine& engine : placed_)
      if (engine.set == plan_.engine_set_id && engine.number) missing.erase(*engine.number);
    const int alive = planned(*key).engine_count;
    if (std::ssize(missing) != full_counts_[index] - alive) {
      ++key;
      continue;
    }
    for (const int number : missing) {
      if (respawns_) respawns_->died(number);
      respawned_[number].why = "died on its host";
    }
    key = watchers_with_dead_.erase(key);
  }
  if (watchers_with_dead_.empty() && phase_ == Phase::running)
    effects_.push_back(WatchEngines{false});
}

// ---------------------------------------------------------------- both

/// When on_time() has to do something of this file.
std::optional<Instant> Supervisor::next_upkeep() const {
  std::optional<Instant> next;
  for (const auto& [key, due] : ended_) next = earlier(next, due);
  if (phase_ == Phase::running && respawns_) next = earlier(next, respawns_->next_due());
  return next;
}

void Supervisor::report_scale() {
  ScaleReport report;
  report.cluster_id = plan_.record.cluster_id;
  report.engine_set = plan_.engine_set_id;
  report.owns_controller = plan_.controller.has_value();
  for (const ProcessKey key : running_engines())
    if (!ended_.contains(key)) report.engines += planned(key).engine_count;
  if (const auto& wish = scaler_.wish())
    report.scale =
        ScaleOrder{wish->least, wish->most, std::chrono::duration<double>(wish->idle).count()};
  report.orders = scale_orders_;
  report.problem = scale_problem_;
  report.respawn_limit = plan_.respawn_limit;
  for (const auto& [number, entry] : respawned_)
    if (entry.count > 0) report.respawned.push_back(entry);
  for (const auto& [number, entry] : respawned_)
    if (respawns_ && respawns_->waits(number)) ++report.waiting;
  effects_.push_back(ReportScale{std::move(report)});
}

}  // namespace px::cluster
