#pragma once

#include <mpi.h>

namespace px::engine {

/// Whether ranks have to give their processor away while they wait, as MPI does not: on some host
/// there are more of these ranks than processors for them. All ranks of the communicator call it at
/// once; all get the same answer.
bool share_processors(MPI_Comm ranks);

}  // namespace px::engine
