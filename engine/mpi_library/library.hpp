#pragma once

#include <cstdint>

/// What libpolyxeus_mpi*.so offers to the process that has loaded it, beside MPI's own functions:
/// a C interface, as the library and the Python engine are built apart. The main thread makes all
/// calls.
extern "C" {

/// CellHooks. `self` is handed to each function.
struct px_mpi_hooks {
  void* self;
  int (*is_interrupted)(void* self);
  void (*leave)(void* self, const char* where);
  void (*fail)(void* self, const char* why);
  /// Null while the world is whole; lives until the next call.
  const char* (*why_broken)(void* self);
};

/// MpiSteps::join() on the world that MPI has been initialized with; this rank wants to take part.
/// Returns the error code of calls that were left; 0 where no other rank takes part.
__attribute__((visibility("default"))) int px_mpi_join(const px_mpi_hooks* hooks);
__attribute__((visibility("default"))) void px_mpi_begin_cell(std::uint64_t number);
/// failure  null where the cell did not fail.
__attribute__((visibility("default"))) void px_mpi_end_cell(const char* failure);
/// Returns the milliseconds until the next call; -1 where none is needed.
__attribute__((visibility("default"))) int px_mpi_tick();
}
