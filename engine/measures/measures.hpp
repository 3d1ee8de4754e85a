#pragma once

#include "engine/measures/gpu_watch.hpp"
#include "jupyter/request_queue.hpp"
#include "wire/json.hpp"
#include "wire/measures/engine_measures.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// What an engine says of its requests; what it says of its process and host is added by others.
EngineMeasures measures_of(const jupyter::WorkReport& work, Instant now);

/// Adds where the main thread is: the `place` of a usage_reply (docs/protocol.md). Of torch's calls
/// only one that is under way.
void add_place(EngineMeasures& measures, const Json& place);

/// Adds the bytes that the user's code has moved by calls of MPI.
void add_mpi_bytes(EngineMeasures& measures);

/// Adds what the process takes of its host, what the host has, and what the engine's GPUs do.
void add_use(EngineMeasures& measures, GpuWatch& gpus);

}  // namespace px::engine
