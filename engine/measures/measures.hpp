#pragma once

#include "engine/measures/gpu_watch.hpp"
#include "jupyter/request_queue.hpp"
#include "wire/json.hpp"
#include "wire/measures/engine_measures.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// The part of an engine's measures about its requests; other functions add its process and its
/// host.
EngineMeasures measures_of(const jupyter::WorkReport& work, Instant now);

/// Adds the position of the main thread: the `place` of a usage_reply (docs/protocol.md). A torch
/// call is added only if it is in progress.
void add_place(EngineMeasures& measures, const Json& place);

/// Adds the bytes that the user's code has moved in MPI calls.
void add_mpi_bytes(EngineMeasures& measures);

/// Adds the resources that the process uses, those of its host, and the activity of the engine's
/// GPUs.
void add_use(EngineMeasures& measures, GpuWatch& gpus);

}  // namespace px::engine
