#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// The balanced tasks that an engine says it has in hand.
struct HeldTasks {
  std::vector<std::string> msg_ids = {};     ///< Those that run, wait, or have a kept reply there.
  std::vector<std::string> unanswered = {};  ///< Those that run or wait, as far as it says so.
};

/// What the engines of a controller that was started again have still in hand. Clients and the
/// journal bring again what is not answered; until it is known which engine holds which task, no
/// task may be given to any engine, or it could run twice. This class only says when that is known
/// and by whom a task is held: the tasks themselves wait in TaskLedger::waiting_ meanwhile. Sees no
/// socket and no clock.
class Stocktaking {
 public:
  /// Nothing is to be found out: this controller is the first one.
  Stocktaking() = default;
  /// awaited  engines that will say what they hold, if they still live.
  /// until    from then on it is done, whatever has not been reported.
  Stocktaking(std::set<EngineUuid> awaited, Instant until)
      : awaited_(std::move(awaited)), until_(until) {}

  /// The engine says what it holds. A second report replaces the first one.
  void reported(const EngineUuid& engine, const HeldTasks& held);
  /// The engine has joined the TaskQueue: it can be given tasks.
  void joined(const EngineUuid& engine);
  /// The engine has left: it is not waited for, and what it held is forgotten.
  void left(const EngineUuid& engine);

  /// Whether tasks may be handed out: all who were awaited have reported and joined, or are late.
  bool is_done(Instant now) const { return awaited_.empty() || now >= until_; }
  /// Whether the engine has said what it holds, and has not left since.
  bool has_reported(const EngineUuid& engine) const { return reported_.contains(engine); }
  /// Whether an engine has said that it holds this task, and take_holder() was not called for it
  /// yet.
  bool is_held(std::string_view msg_id) const { return holders_.contains(msg_id); }
  /// When it is done at the latest; nothing where it is.
  std::optional<Instant> deadline() const;

  /// The engine that has the latest attempt at this task; empty: none holds it. All holders of the
  /// task are forgotten by that. An engine that has not answered it comes before one that has;
  /// among equals it is `latest`.
  /// latest  the engine that was given the task last, as far as the journal says it.
  EngineUuid take_holder(std::string_view msg_id, const EngineUuid& latest = {});

 private:
  void settle(const EngineUuid& engine);
  void forget(const EngineUuid& engine);

  std::set<EngineUuid> awaited_, reported_, joined_;
  Instant until_{};
  struct Holder {
    EngineUuid engine;
    bool has_answered;
  };
  std::multimap<std::string, Holder, std::less<>> holders_;  // by msg_id
};

}  // namespace px::controller
