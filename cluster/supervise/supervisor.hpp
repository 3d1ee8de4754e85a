#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/launch/start_plan.hpp"
#include "cluster/supervise/controller_restarts.hpp"
#include "cluster/supervise/respawns.hpp"
#include "cluster/supervise/scaler.hpp"
#include "cluster/supervise/supervisor_events.hpp"
#include "wire/time.hpp"

namespace px::cluster {

/// Decides the actions in the life of a cluster: starts the controller first, the engines after
/// that, and stops them in the reverse order. Events in, effects out; uses no process, file or
/// clock.
/// For each StartProcess it must receive ProcessStarted or ProcessEnded.
///
/// Engines that are missing are started again as a restart of some engines does it, without ending
/// any: by Respawns, if they have died, or by Scaler, if there is work for more. Both wait while
/// other engines start or end.
class Supervisor {
 public:
  explicit Supervisor(StartPlan plan);

  std::vector<Effect> begin(Instant now);
  std::vector<Effect> on(const Event& event, Instant now);
  std::vector<Effect> on_time(Instant now);
  /// When on_time() will next have work.
  std::optional<Instant> next_deadline() const;
  bool is_ended() const { return phase_ == Phase::ended; }

 private:
  enum class Phase {
    controller_starting,  // until its files exist
    counting,             // engines only: how many are registered before ours?
    pausing,              // --delay
    registering,          // until all engines are registered
    running,
    ending_engines,   // a restart: until their processes have ended
    leaving_engines,  // until the controller has noticed it, so that their ids are free
    stopping_engines,
    stopping_controller,
    ended
  };

  void handle(const ProcessStarted& event, Instant now);
  void handle(const ProcessEnded& event, Instant now);
  void handle(const ProcessReported& event, Instant now);
  void handle(const FilesReady& event, Instant now);
  void handle(const EnginesCounted& event, Instant now);
  void handle(const OwnerEnded& event, Instant now);
  void handle(const OwnerLeft& event, Instant now);
  void handle(const RestartAsked& event, Instant now);
  std::string choose(const std::vector<int>& numbers);
  void handle(const ScaleAsked& event, Instant now);
  void handle(const LoadReported& event, Instant now);
  void handle(const SignalArrived& event, Instant now);
  void controller_ended(const ProcessEnded& event, Instant now);
  void restart_controller(const ProcessEnded& event, Instant now);
  void start_controller_again();
  void engine_ended(const ProcessEnded& event, Instant now);
  void report_death(const ProcessEnded& event, int pid);
  void note_exit(const ProcessEnded& event);
  std::string exited_engines() const;
  void last_engine_ended(const ProcessEnded& event, Instant now);

  // in supervisor_scaling.cpp
  std::string begin_scaling(const ScaleOrder& order);
  std::string add_units(int most);
  std::vector<ScaleUnit> scale_units() const;
  std::vector<std::string> places_of(ProcessKey key) const;
  void start_missing(Instant now);
  void end_for_good(ProcessKey key, Instant now);
  void kill_ended(Instant now);
  bool takes_care_of(const ProcessEnded& event, Instant now);
  void respawn(Instant now);
  void note_respawned();
  void look_for_dead(Instant now);
  std::optional<Instant> next_upkeep() const;
  void report_scale();

  // in supervisor_restarting.cpp
  void engines_are_gone(Instant now);
  void kill_engines(Instant now);
  bool are_engines_here() const;
  bool has_ranks_here() const;
  void report_restart(std::string problem);
  void learn_ids(const std::vector<PlacedEngine>& placed);
  bool is_chosen(const PlacedEngine& engine) const;
  bool is_part(const PlacedEngine& engine) const;
  int count_placed() const;
  int count_registered() const;
  std::pair<ProcessKey, int> origin_of(int number) const;
  std::string own_engine_info() const;

  void start_engines(Instant now);
  void check_registered(Instant now);
  void report_missing_engines(Instant now);
  std::string missing_engines() const;
  void become_ready(Instant now);
  void run_on(Instant now);
  void fail(const std::string& text, Instant now);
  void begin_stop(Instant now);
  void stop_controller(Instant now);
  void kill_all();
  void finish();

  bool is_stopping() const { return phase_ >= Phase::stopping_engines; }
  bool is_ending_engines() const {
    return phase_ == Phase::ending_engines || phase_ == Phase::leaving_engines;
  }
  std::vector<ProcessKey> running_engines() const;
  std::vector<ProcessKey> running_chosen() const;
  int wanted_engines() const;
  const PlannedProcess& planned(ProcessKey key) const;
  PlannedProcess& planned(ProcessKey key);
  void save_record();
  void say(Level level, std::string text) { effects_.push_back(Say{level, std::move(text)}); }
  std::vector<Effect> take() { return std::exchange(effects_, {}); }

  StartPlan plan_;
  Phase phase_ = Phase::controller_starting;
  std::map<ProcessKey, int> pids_;  // of running processes
  std::size_t unstarted_engines_ = 0;
  /// Of launchers with children: end those in the end.
  std::map<ProcessKey, int> sessions_;
  std::vector<int> full_counts_;  // engines of each process, as planned
  std::vector<int> begins_;       // the number of the first engine of each
  std::set<ProcessKey> chosen_;   // engine processes that are being started, or were started last
  /// Processes that restart some of their engines: the positions of these among its engines.
  std::map<ProcessKey, std::vector<int>> parts_;
  std::vector<PlacedEngine> placed_;  // from the controller's latest answer
  std::set<EngineUuid> replaced_;     // engines of parts_ that are to be replaced
  int unstarted_parts_ = 0;           // engines of parts_ that ended before they registered
  std::map<int, EngineId> ids_;       // of our engines, by their number in the set
  Instant engines_started_{};
  int baseline_ = 0;          // engines that were registered before ours
  bool is_world_ = true;      // there were none: our engines' ids are their ranks
  int registered_ = 0;        // of the chosen ones
  bool says_places_ = false;  // our engines report which program has started them
  int started_ = 0;           // engines of the chosen processes
  int exited_ = 0;            // of them, engines whose processes ended before all had registered
  std::string first_exit_;    // why the first of them ended, without its log
  std::set<std::string> told_warnings_;
  ControllerRestarts controller_restarts_;
  std::optional<Instant> controller_due_;  // when it will be started again
  bool had_files_ = false;
  bool has_reported_ = false;
  bool has_registered_ = false;  // one of our engines has registered at some time
  bool is_restarting_ = false;
  std::optional<RestartAsked> waiting_restart_;  // of some engines, until all have registered
  bool was_killed_ = false;
  int exit_code_ = 0;
  Scaler scaler_;
  std::optional<Respawns> respawns_;
  std::set<ProcessKey> absent_;               // engine processes that are not to run at present
  std::map<ProcessKey, Instant> ended_;       // for good, until the process has ended: SIGKILL then
  bool is_own_start_ = false;                 // the scaler or respawns_ have started engines last
  std::set<int> respawning_;                  // numbers of engines that are being started again
  std::map<int, RespawnedEngine> respawned_;  // by their numbers
  std::set<ProcessKey> watchers_with_dead_;   // which of their engines is not known yet
  int scale_orders_ = 0;
  std::string scale_problem_;  // of the last order
  std::optional<Instant> deadline_;
  std::vector<Effect> effects_;
};

}  // namespace px::cluster
