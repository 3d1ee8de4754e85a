#pragma once

namespace px::engine {

/// Makes MPI's errors exceptions (std::runtime_error, with MPI's words) while a cell runs, in place
/// of the end of all ranks. For MPI_COMM_WORLD and what is made of it, and for files. Call it when
/// MPI is initialized.
void throw_mpi_errors();

}  // namespace px::engine
