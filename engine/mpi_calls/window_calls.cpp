// MPI's functions of windows that wait for other ranks, in front of the MPI library's own
// (mpi_calls.cpp): collective ones begin with a roll call, the others say where a rank waits.

#include <mpi.h>

#include "engine/mpi_calls/calls.hpp"

extern "C" {

#define PX_WINDOW(shown, name, parameters, arguments)                                         \
  int MPI_Win_##name parameters {                                                             \
    PX_CALLED;                                                                                \
    return px::engine::make_shared("MPI_Win_" #shown, communicator, window,                   \
                                   [&](MPI_Comm comm) { return PMPI_Win_##name arguments; }); \
  }
PX_WINDOW(create_dynamic, create_dynamic, (MPI_Info info, MPI_Comm communicator, MPI_Win* window),
          (info, comm, window))
#define PX_WINDOWS_OF_SIZE(suffix, Unit)                                                 \
  PX_WINDOW(create, create##suffix,                                                      \
            (void* base, MPI_Aint size, Unit unit, MPI_Info info, MPI_Comm communicator, \
             MPI_Win* window),                                                           \
            (base, size, unit, info, comm, window))                                      \
  PX_WINDOW(allocate, allocate##suffix,                                                  \
            (MPI_Aint size, Unit unit, MPI_Info info, MPI_Comm communicator, void* base, \
             MPI_Win* window),                                                           \
            (size, unit, info, comm, base, window))                                      \
  PX_WINDOW(allocate_shared, allocate_shared##suffix,                                    \
            (MPI_Aint size, Unit unit, MPI_Info info, MPI_Comm communicator, void* base, \
             MPI_Win* window),                                                           \
            (size, unit, info, comm, base, window))
PX_WINDOWS_OF_SIZE(, int)
#if MPI_VERSION >= 4
PX_WINDOWS_OF_SIZE(_c, MPI_Aint)
#endif
#undef PX_WINDOWS_OF_SIZE
#undef PX_WINDOW

int MPI_Win_free(MPI_Win* window) {
  PX_CALLED;
  return px::engine::free_shared("MPI_Win_free", window,
                                 [](MPI_Win* freed) { return PMPI_Win_free(freed); });
}

int MPI_Win_fence(int assertions, MPI_Win window) {
  PX_CALLED;
  return px::engine::use_shared("MPI_Win_fence", window,
                                [&] { return PMPI_Win_fence(assertions, window); });
}

#define PX_NAMED(name, parameters, arguments)                                              \
  int MPI_Win_##name parameters {                                                          \
    return px::engine::named("MPI_Win_" #name, [&] { return PMPI_Win_##name arguments; }); \
  }
PX_NAMED(start, (MPI_Group group, int assertions, MPI_Win window), (group, assertions, window))
PX_NAMED(complete, (MPI_Win window), (window))
PX_NAMED(wait, (MPI_Win window), (window))
PX_NAMED(lock, (int kind, int rank, int assertions, MPI_Win window),
         (kind, rank, assertions, window))
PX_NAMED(lock_all, (int assertions, MPI_Win window), (assertions, window))
PX_NAMED(unlock, (int rank, MPI_Win window), (rank, window))
PX_NAMED(unlock_all, (MPI_Win window), (window))
PX_NAMED(flush, (int rank, MPI_Win window), (rank, window))
PX_NAMED(flush_all, (MPI_Win window), (window))
PX_NAMED(flush_local, (int rank, MPI_Win window), (rank, window))
PX_NAMED(flush_local_all, (MPI_Win window), (window))
#undef PX_NAMED

}  // extern "C"
