#pragma once

#include <vector>

#include "client/engine_place.hpp"
#include "os/stacks/process_stacks.hpp"

namespace px::client {

/// The state of one engine and the stacks of its threads, taken at the same moment.
struct EngineStacks {
  EnginePlace place;
  os::ProcessStacks stacks;  ///< Its `why` says why an engine that has answered tells none.
};

/// Reads the content of a usage_reply that answers {"stacks": true}.
EngineStacks read_engine_stacks(EngineId id, const Json& usage);

/// Asks these engines, which answer while user code runs, and waits until all have answered, for
/// `patience` at most. In their order; those that have not answered are State::no_answer.
/// errors  as ClientCore::send_control().
std::vector<EngineStacks> ask_stacks(ClientCore& core, const std::vector<EngineId>& engines,
                                     Duration patience);

/// As a list of JSON objects, for scripts: those of places_as_json(), with "threads", "hidden" and
/// "why". What is not known is null.
Json stacks_as_json(const std::vector<EngineStacks>& engines);

}  // namespace px::client
