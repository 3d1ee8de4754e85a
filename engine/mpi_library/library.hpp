#pragma once

#include <cstdint>

/// The functions of libpolyxeus_mpi*.so for the process that has loaded it, in addition to MPI's
/// own functions: a C interface, because the library and the Python engine are built separately.
/// The main thread makes all calls except those of RankMessageFunctions.
extern "C" {

/// CellHooks. `self` is passed to each function.
struct px_mpi_hooks {
  void* self;
  int (*is_interrupted)(void* self);
  void (*leave)(void* self, const char* where);
  void (*fail)(void* self, const char* why);
  /// Null while the world is complete; valid until the next call.
  const char* (*why_broken)(void* self);
};

/// Calls MpiSteps::join() for a rank that takes part; MPI must have been initialized. Returns the
/// error code of calls that were left; 0 if no other rank takes part.
__attribute__((visibility("default"))) int px_mpi_join(const px_mpi_hooks* hooks);
__attribute__((visibility("default"))) void px_mpi_begin_cell(std::uint64_t number);
/// failure  null if the cell did not fail.
__attribute__((visibility("default"))) void px_mpi_end_cell(const char* failure);
/// MpiSteps::use_stop_point().
__attribute__((visibility("default"))) void px_mpi_use_stop_point();
/// Returns the milliseconds until the next call; -1 if none is needed.
__attribute__((visibility("default"))) int px_mpi_tick();

/// RankMessageFunctions, among the ranks that have joined and whose MPI lets any thread call it.
/// One thread at a time may call these five functions, until the main thread finalizes MPI.
/// px_mpi_mail()  returns the name of the group of these ranks; null if this one is not among them.
/// rank           its rank in the group.
__attribute__((visibility("default"))) const char* px_mpi_mail(int* rank);
__attribute__((visibility("default"))) std::uint64_t px_mpi_send(int rank, int tag,
                                                                 const void* bytes,
                                                                 std::uint64_t size);
__attribute__((visibility("default"))) std::uint64_t px_mpi_receive(int rank, int tag, void* bytes,
                                                                    std::uint64_t size);
__attribute__((visibility("default"))) int px_mpi_test(std::uint64_t request, std::uint64_t* size);
__attribute__((visibility("default"))) long long px_mpi_take(int tag, int* rank, void* bytes,
                                                             std::uint64_t capacity);
}
