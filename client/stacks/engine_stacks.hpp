#pragma once

#include <memory>
#include <vector>

#include "client/engine_place.hpp"
#include "os/stacks/process_stacks.hpp"

namespace px::client {

/// The state of one engine and the stacks of its threads, taken at the same moment.
struct EngineStacks {
  EnginePlace place;
  os::ProcessStacks stacks;  ///< Its `why` gives the reason if an engine has answered without
                             ///< stacks.
};

/// Reads the content of a usage_reply that answers {"stacks": true}.
EngineStacks read_engine_stacks(EngineId id, const Json& usage);

/// Asks several engines for their stacks; they answer even while user code runs. The constructor
/// sends the question; waiting is optional. A value: copies refer to the same answers.
class StacksQuestion {
 public:
  /// scope   engines of earlier versions answer StackScope::running_main with their place only.
  /// errors  those of ClientCore::send_control().
  StacksQuestion(ClientCore& core, std::vector<EngineId> engines, os::StackScope scope);

  /// Whether all engines have answered.
  bool is_ready() const { return !call_ || call_->is_ready(); }
  /// Waits until all engines have answered, or until `deadline`.
  void wait(Instant deadline) const;
  /// The answers so far, in the order of the engines that were asked; State::no_answer for the
  /// others.
  std::vector<EngineStacks> answers() const;

 private:
  std::vector<EngineId> engines_;
  std::shared_ptr<Call> call_;  // null: no engine was asked
};

/// Asks these engines for the stacks of all threads, and waits until all have answered, at most for
/// `patience`.
/// errors  those of ClientCore::send_control().
std::vector<EngineStacks> ask_stacks(ClientCore& core, const std::vector<EngineId>& engines,
                                     Duration patience);

/// A list of JSON objects, for scripts: the objects of places_as_json(), with the additional
/// members "threads", "hidden" and "why". Unknown members are null.
Json stacks_as_json(const std::vector<EngineStacks>& engines);

}  // namespace px::client
