#pragma once

#include <memory>
#include <vector>

#include "client/engine_place.hpp"
#include "os/stacks/process_stacks.hpp"

namespace px::client {

/// The state of one engine and the stacks of its threads, as one answer of the engine gives them.
struct EngineStacks {
  EnginePlace place;
  os::ProcessStacks stacks;  ///< Its `why` gives the reason if an engine has answered without
                             ///< stacks.
};

/// Reads the content of a usage_reply to a usage_request with {"stacks": true}.
EngineStacks read_engine_stacks(EngineId id, const Json& usage);

/// Asks several engines for their stacks; the engines answer even while user code runs. The
/// constructor sends the question; waiting is optional. Copies of a StacksQuestion refer to the
/// same answers.
class StacksQuestion {
 public:
  /// scope   the threads whose stacks are requested. If it is StackScope::running_main, engines of
  ///         earlier versions answer without stacks.
  /// errors  those of ClientCore::send_control().
  StacksQuestion(ClientCore& core, std::vector<EngineId> engines, os::StackScope scope);

  /// Whether all engines have answered.
  bool is_ready() const { return !call_ || call_->is_ready(); }
  /// Waits until all engines have answered, or until `deadline`.
  void wait(Instant deadline) const;
  /// The answers so far, in the order of the engines that were asked. Engines that have not
  /// answered have State::no_answer.
  std::vector<EngineStacks> answers() const;

 private:
  std::vector<EngineId> engines_;
  std::shared_ptr<Call> call_;  // null: no engine was asked
};

/// Asks these engines for the stacks of all threads, and waits until all engines have answered, but
/// at most for `patience`.
/// errors  those of ClientCore::send_control().
std::vector<EngineStacks> ask_stacks(ClientCore& core, const std::vector<EngineId>& engines,
                                     Duration patience);

/// Returns a list of JSON objects, for scripts: those of places_as_json(), with the additional
/// members "threads", "hidden" and "why". Unknown members are null.
Json stacks_as_json(const std::vector<EngineStacks>& engines);

}  // namespace px::client
