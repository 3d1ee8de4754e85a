#pragma once

#include <mpi.h>

namespace px::engine {

/// Whether ranks have to give their core away while they wait, as MPI does not: on some host more
/// of these ranks run than there are cores for them. All ranks of the communicator call it at once,
/// and get the same answer. Always false under Open MPI, which gives cores away itself then.
bool ranks_share_cores(MPI_Comm ranks);

}  // namespace px::engine
