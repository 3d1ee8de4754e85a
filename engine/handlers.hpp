#pragma once

#include <map>
#include <string>

#include "engine/engine_format.hpp"
#include "interpreters/interpreter.hpp"
#include "jupyter/runner.hpp"

namespace px::engine {

/// What an engine serves on its main thread beside Jupyter's requests: apply_request,
/// clear_request and the native requests. The arguments must outlive the handlers.
/// cuts  large buffers of native replies travel in pieces: see cut().
std::map<std::string, jupyter::Handler> engine_handlers(interpreters::Interpreter& interpreter,
                                                        jupyter::OutgoingQueue& outgoing,
                                                        const EngineFormat& format, bool cuts);

}  // namespace px::engine
