#pragma once

#include <mpi.h>

#include "engine/mpi/mpi_traffic.hpp"
#include "engine/mpi_calls/call_forms.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"

namespace px::engine {

// These add to px_mpi_traffic(), if the calling thread is the main thread of an engine whose calls
// answer interrupts. Bytes are those of the user's data by the arguments of the call.

/// So many elements are sent.
void count_sent(MPI_Count count, MPI_Datatype type);
/// There is room for so many elements that will be received.
void count_received(MPI_Count count, MPI_Datatype type);
/// This was received.
void count_received(const MPI_Status& status);
/// All ranks have made this call; bytes_of_collective() says what is counted.
void count_collective(const KnownCommunicator& known, const CalledForm& called);

/// In a collective call whose parts may differ: what this rank gives. Returns the form.
/// data  MPI_IN_PLACE: the part is not known.
CallForm giving(const void* data, MPI_Count count, MPI_Datatype type, CallForm form = {});
/// The same for what it gets.
CallForm getting(const void* data, MPI_Count count, MPI_Datatype type, CallForm form = {});

}  // namespace px::engine
