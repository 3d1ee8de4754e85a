#pragma once

#include <map>
#include <memory>
#include <string>

#include "engine/engine_format.hpp"
#include "interpreters/interpreter.hpp"
#include "jupyter/runner.hpp"
#include "os/segments/segment_store.hpp"

namespace px::engine {

/// What an engine serves on its main thread beside Jupyter's requests: apply_request,
/// clear_request and the native requests. The arguments must outlive the handlers.
/// segments  where large buffers of replies go whose client shares memory; null: nowhere.
/// cuts      large buffers of native replies travel in pieces: see cut().
std::map<std::string, jupyter::Handler> engine_handlers(interpreters::Interpreter& interpreter,
                                                        jupyter::OutgoingQueue& outgoing,
                                                        const EngineFormat& format,
                                                        std::shared_ptr<os::SegmentStore> segments,
                                                        bool cuts);

}  // namespace px::engine
