#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/scheduler/gang_places.hpp"
#include "wire/ids.hpp"
#include "wire/json.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The balanced tasks that an engine holds, as it reports.
struct HeldTasks {
  std::vector<std::string> msg_ids = {};     ///< Those that run, wait, or have a kept reply there.
  std::vector<std::string> unanswered = {};  ///< Those that run or wait, if it reports them.
  std::vector<HeldGang> gangs = {};          ///< Those of several ranks, if it reports them.
};
/// Reads an engine's report. Members that are missing or malformed are left out.
HeldTasks read_held_tasks(const Json& registration);

/// The tasks that engines still hold after a restart of the controller. Clients and the journal
/// submit unanswered tasks again; until it is known which engine holds which task, no task may be
/// given to any engine, or it could run twice. This class only decides when that is known and which
/// engine holds a task: the tasks themselves wait in TaskLedger::waiting_ until then. Uses no
/// socket and no clock.
class Stocktaking {
 public:
  /// There is nothing to find out: this controller is the first one.
  Stocktaking() = default;
  /// awaited  engines that will report what they hold, if they are still alive.
  /// until    from then on it is done, even if reports are missing.
  Stocktaking(std::set<EngineUuid> awaited, Instant until)
      : awaited_(std::move(awaited)), until_(until) {}

  /// The engine reports which tasks it holds. A second report replaces the first one.
  void reported(const EngineUuid& engine, const HeldTasks& held);
  /// The engine has joined the TaskQueue: it can be given tasks.
  void joined(const EngineUuid& engine);
  /// The engine has left: it is no longer awaited, and the tasks that it held are forgotten.
  void left(const EngineUuid& engine);

  /// Whether there was an earlier controller.
  bool has_predecessor() const { return until_ != Instant{}; }
  /// Whether tasks may be assigned: all awaited engines have reported and joined, or are late.
  bool is_done(Instant now) const { return awaited_.empty() || now >= until_; }
  /// Whether the engine has reported, and has not left since.
  bool has_reported(const EngineUuid& engine) const { return reported_.contains(engine); }
  /// Whether an engine has reported that it holds this task, and take_holder() was not called for
  /// it yet.
  bool is_held(std::string_view msg_id) const { return holders_.contains(msg_id); }
  /// All engines that have reported that they hold this task, as far as take_holder() was not
  /// called for it.
  std::vector<EngineUuid> holders_of(std::string_view msg_id) const;
  /// The latest attempt at this task of several ranks; null: no engine holds a rank, or none says
  /// of which attempt.
  std::shared_ptr<const HeldGang> gang_of(std::string_view msg_id) const;
  /// A rank of a task that an engine has not answered.
  struct HeldRank {
    std::string msg_id;
    EngineUuid engine;
  };
  /// All ranks of tasks for which take_holder() was not called.
  std::vector<HeldRank> unclaimed_ranks() const;
  /// When it is done at the latest; nothing if it already is.
  std::optional<Instant> deadline() const;

  /// Returns the engine that has the latest attempt at this task; empty: no engine holds it. All
  /// holders of the task are forgotten. An engine that has not answered it has priority over one
  /// that has; among equals it is `latest`.
  /// latest  the engine that was given the task last, according to the journal.
  EngineUuid take_holder(std::string_view msg_id, const EngineUuid& latest = {});

 private:
  void settle(const EngineUuid& engine);
  void forget(const EngineUuid& engine);

  std::set<EngineUuid> awaited_, reported_, joined_;
  Instant until_{};
  struct Holder {
    EngineUuid engine;
    bool has_answered;
    std::shared_ptr<const HeldGang> gang;  // null: of one rank
  };
  std::multimap<std::string, Holder, std::less<>> holders_;  // by msg_id
  std::set<EngineUuid> busy_;  // those that have reported unanswered tasks
};

}  // namespace px::controller
