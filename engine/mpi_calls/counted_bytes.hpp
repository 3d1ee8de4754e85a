#pragma once

#include <mpi.h>

#include "engine/mpi/mpi_traffic.hpp"
#include "engine/mpi_calls/call_forms.hpp"
#include "engine/mpi_calls/mpi_steps.hpp"

namespace px::engine {

// These functions add to px_mpi_traffic(), if the calling thread is the main thread of an engine
// whose calls answer interrupts. The bytes are those of the user's data according to the arguments
// of the call.

/// This many elements are sent.
void count_sent(MPI_Count count, MPI_Datatype type);
/// There is room for this many elements to be received.
void count_received(MPI_Count count, MPI_Datatype type);
/// This message was received.
void count_received(const MPI_Status& status);
/// All ranks have made this call; bytes_of_collective() defines what is counted.
void count_collective(const KnownCommunicator& known, const CalledForm& called);

/// Counts what this rank sends in a collective call whose parts may differ. Returns the form.
/// data  MPI_IN_PLACE: the part is unknown.
CallForm giving(const void* data, MPI_Count count, MPI_Datatype type, CallForm form = {});
/// Counts what this rank receives in such a call.
CallForm getting(const void* data, MPI_Count count, MPI_Datatype type, CallForm form = {});

}  // namespace px::engine
