// The functions of Supervisor for engines that are restarted.

#include <algorithm>
#include <csignal>
#include <utility>

#include "cluster/supervise/supervisor.hpp"
#include "wire/counted.hpp"
#include "wire/json.hpp"

namespace px::cluster {
namespace {

/// For the controller to notice that engines have ended: a tunnel may break while they live.
constexpr Duration leave_patience = std::chrono::seconds(15);

}  // namespace

void Supervisor::handle(const RestartAsked& event, Instant now) {
  if (is_stopping() || is_restarting_ || waiting_restart_) return;
  if (!event.numbers.empty() && (phase_ == Phase::registering || is_own_start_)) {
    waiting_restart_ = event;
    return;
  }
  if (!event.rank_ports.empty()) plan_.engines.ranks.ports = event.rank_ports;
  is_restarting_ = true;
  if (phase_ < Phase::registering)
    return report_restart("the engines have not been started for the first time yet");
  if (event.names_others || (!event.numbers.empty() && plan_.engines.processes.empty()))
    return report_restart(
        "all engines of their set have ended, and its pxcluster, too: restart all engines with "
        "rc.restart_engines(), or start new ones with `pxcluster engines`");
  if (plan_.engines.processes.empty()) return report_restart("");
  if (const std::string problem = choose(event.numbers); !problem.empty())
    return report_restart(problem);
  learn_ids(event.engines);
  const bool is_whole = chosen_.size() + absent_.size() == full_counts_.size();
  is_own_start_ = false;
  respawning_.clear();
  say(Level::info, is_whole ? "restarting the engines"
                            : "restarting " + counted(event.numbers.size(), "engine"));
  was_killed_ = false;
  registered_ = 0;
  phase_ = Phase::ending_engines;
  effects_.push_back(WatchEngines{true});
  const auto engines = running_chosen();
  if (engines.empty() && parts_.empty()) return engines_are_gone(now);
  const std::string why = "pxcluster ended it for a restart";
  if (is_whole)
    effects_.push_back(AnnounceEnd{plan_.engine_set_id, why});
  else
    for (const int number : event.numbers)
      effects_.push_back(AnnounceEnd{plan_.engine_set_id + "/" + std::to_string(number), why});
  if (engines.empty()) return engines_are_gone(now);
  for (const ProcessKey key : engines)
    effects_.push_back(SendSignal{pids_.at(key), SIGTERM, has_ranks_here()});
  deadline_ = now + (are_engines_here() ? std::min(plan_.patience, plan_.restart_patience)
                                        : plan_.patience);
}

/// Which processes a restart of these engines is about; empty: all. Why it cannot be; empty: it
/// can.
std::string Supervisor::choose(const std::vector<int>& numbers) {
  chosen_.clear();
  parts_.clear();
  std::map<ProcessKey, std::vector<int>> places;
  for (const int number : numbers) {
    const auto [key, place] = origin_of(number);
    if (key.value < 0 || place >= full_counts_[static_cast<std::size_t>(key.value)])
      return "it has started no such engine";
    places[key].push_back(place);
  }
  if (numbers.empty())
    for (int i = 0; i < std::ssize(full_counts_); ++i)
      if (!absent_.contains(ProcessKey{i})) chosen_.insert(ProcessKey{i});
  for (const auto& [key, own] : places) {
    const int all = full_counts_[static_cast<std::size_t>(key.value)];
    if (std::ssize(own) == all)
      chosen_.insert(key);
    else if (!planned(key).command.takes_orders)
      return "engines that one process has started cannot be restarted one by one: " +
             planned(key).command.log_file.string() + " is the log of " + std::to_string(all) +
             " engines";
    else if (!pids_.contains(key))
      return "no engine of its host runs any more: restart all " + std::to_string(all) +
             " engines of that host together";
    else
      parts_[key] = own;
  }
  return "";
}

/// Whether all engines run on this host. Programs that end engines on other hosts need more time.
bool Supervisor::are_engines_here() const {
  const auto& processes = plan_.engines.processes;
  return !plan_.engines.patience &&
         std::none_of(processes.begin(), processes.end(),
                      [](const PlannedProcess& each) { return each.command.has_reports; });
}

/// Open MPI's mpiexec passes SIGTERM on after a second, and then waits for another one: at a
/// restart the ranks get it themselves, and mpiexec is killed when they have left.
bool Supervisor::has_ranks_here() const {
  return are_engines_here() && plan_.record.engine_launcher == "mpi";
}

/// At a restart: the engines did not end by SIGTERM.
void Supervisor::kill_engines(Instant now) {
  if (was_killed_) {
    const std::string problem =
        "some engines did not end within " + format_duration(plan_.patience) + " after SIGKILL";
    say(Level::error, problem);
    return report_restart(problem);
  }
  was_killed_ = true;
  for (const ProcessKey key : running_chosen())
    effects_.push_back(SendSignal{pids_.at(key), SIGKILL, true});
  deadline_ = now + plan_.patience;
}

void Supervisor::engines_are_gone(Instant now) {
  for (auto session = sessions_.begin(); session != sessions_.end();) {
    const auto [key, pid] = *session++;
    if (!chosen_.contains(key)) continue;
    effects_.push_back(SendSignal{pid, SIGKILL, true});
    sessions_.erase(key);
  }
  phase_ = Phase::leaving_engines;
  deadline_ = now + leave_patience;
}

void Supervisor::report_restart(std::string problem) {
  if (!is_restarting_) return;
  is_restarting_ = false;
  effects_.push_back(ReportRestart{registered_, std::move(problem)});
}

/// So that an engine gets its old id when it starts again.
void Supervisor::learn_ids(const std::vector<PlacedEngine>& placed) {
  for (const PlacedEngine& engine : placed)
    if (engine.set == plan_.engine_set_id && engine.number) ids_[*engine.number] = engine.id;
}

/// The process of the engine of this number, and its place among the engines of that.
std::pair<ProcessKey, int> Supervisor::origin_of(int number) const {
  const auto next = std::upper_bound(begins_.begin(), begins_.end(), number);
  if (next == begins_.begin()) return {controller_process, 0};
  return {ProcessKey{static_cast<int>(next - begins_.begin()) - 1}, number - *std::prev(next)};
}

/// Whether it is an engine of a process that is started as a whole.
bool Supervisor::is_chosen(const PlacedEngine& engine) const {
  if (engine.set != plan_.engine_set_id) return false;
  return chosen_.size() == full_counts_.size() || !engine.number ||
         chosen_.contains(origin_of(*engine.number).first);
}

bool Supervisor::is_part(const PlacedEngine& engine) const {
  if (engine.set != plan_.engine_set_id || !engine.number) return false;
  const auto [key, place] = origin_of(*engine.number);
  const auto part = parts_.find(key);
  return part != parts_.end() &&
         std::find(part->second.begin(), part->second.end(), place) != part->second.end();
}

int Supervisor::count_placed() const {
  return static_cast<int>(
      std::count_if(placed_.begin(), placed_.end(),
                    [this](const PlacedEngine& engine) { return is_chosen(engine); }));
}

/// Those that are being started, parts_ among them.
int Supervisor::count_registered() const {
  return count_placed() + static_cast<int>(std::count_if(
                              placed_.begin(), placed_.end(), [this](const PlacedEngine& engine) {
                                return is_part(engine) && !replaced_.contains(engine.uuid);
                              }));
}

/// The text of the engines' file, and what these engines are told beside.
std::string Supervisor::own_engine_info() const {
  auto info = unpack(Packer::json, plan_.engine_info);
  if (!info) return plan_.engine_info;
  (*info)["engine_set"] = plan_.engine_set_id;
  RankPlan ranks = plan_.engines.ranks;
  if (!is_world_) ranks.hosts.clear();
  if (ranks != RankPlan{}) (*info)["ranks"] = write_rank_plan(ranks);
  if (!ids_.empty()) {
    std::vector<int> ids(static_cast<std::size_t>(ids_.rbegin()->first) + 1, -1);
    for (const auto& [number, id] : ids_) ids[static_cast<std::size_t>(number)] = id.value;
    (*info)["engine_ids"] = ids;
  }
  return pack(Packer::json, *info);
}

}  // namespace px::cluster
