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

/// What the engines of a controller that was started again have still in hand. Their clients send
/// again what is not answered; until it is known which engine holds which task, no task may be
/// given to another one, or it would run twice. Sees no socket and no clock.
class Stocktaking {
 public:
  /// Nothing is to be found out: this controller is the first one.
  Stocktaking() = default;
  /// awaited  engines that will say what they hold, if they still live.
  /// until    nobody is waited for longer.
  Stocktaking(std::set<EngineUuid> awaited, Instant until)
      : awaited_(std::move(awaited)), until_(until) {}

  void reported(const EngineUuid& engine, const HeldTasks& held);
  /// It can be given tasks.
  void joined(const EngineUuid& engine);
  void left(const EngineUuid& engine);

  /// Whether tasks may be handed out: all who were awaited have reported and joined, or are late.
  bool is_done(Instant now) const { return awaited_.empty() || now >= until_; }
  /// Whether it said what it holds, and is still there.
  bool has_reported(const EngineUuid& engine) const { return reported_.contains(engine); }
  /// Whether an engine has said that it holds this task, which nobody has asked for yet.
  bool is_held(std::string_view msg_id) const { return holders_.contains(msg_id); }
  /// When it is done at the latest; nothing where it is.
  std::optional<Instant> deadline() const;

  /// An engine that holds this task, which is forgotten; empty: none does. One that has not
  /// answered it has the latest attempt.
  /// latest  else: who was given it last, as far as that is known: the others have earlier ones.
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
