#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/engine_format.hpp"
#include "engine/held_results.hpp"
#include "interpreters/interpreter.hpp"
#include "jupyter/runner.hpp"
#include "os/segments/segment_store.hpp"

namespace px::engine {

/// How large buffers of native replies are sent.
struct LargeReplies {
  /// For clients that share memory; null: none do.
  std::shared_ptr<os::SegmentStore> segments = {};
  /// For clients that fetch them, if they or this engine are on another host than the controller.
  std::shared_ptr<HeldResults> held = {};
  bool is_far = false;  ///< This engine reaches the controller through a network.
  bool cuts = false;    ///< Send them to all others in several frames: see cut_pieces().
};

/// The requests that an engine serves on its main thread in addition to Jupyter's: apply_request,
/// clear_request and the native requests. The arguments must outlive the handlers.
std::map<std::string, jupyter::Handler> engine_handlers(interpreters::Interpreter& interpreter,
                                                        jupyter::OutgoingQueue& outgoing,
                                                        const EngineFormat& format,
                                                        LargeReplies large);

}  // namespace px::engine
