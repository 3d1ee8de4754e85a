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

/// How large buffers of native replies travel.
struct LargeReplies {
  /// To clients that share memory; null: nowhere.
  std::shared_ptr<os::SegmentStore> segments = {};
  /// To clients that fetch them, where they or this engine are on another host than the controller.
  std::shared_ptr<HeldResults> held = {};
  bool is_far = false;  ///< This engine reaches the controller by a network.
  bool cuts = false;    ///< To all others in frames of several: see cut_pieces().
};

/// What an engine serves on its main thread beside Jupyter's requests: apply_request,
/// clear_request and the native requests. The arguments must outlive the handlers.
std::map<std::string, jupyter::Handler> engine_handlers(interpreters::Interpreter& interpreter,
                                                        jupyter::OutgoingQueue& outgoing,
                                                        const EngineFormat& format,
                                                        LargeReplies large);

}  // namespace px::engine
