#pragma once

#include <string>

namespace px::engine {

/// Makes MPI's errors exceptions (std::runtime_error, with MPI's words) while a cell runs, in place
/// of the end of all ranks. For MPI_COMM_WORLD and what is made of it, and for files. Call it when
/// MPI is initialized.
void throw_mpi_errors();

/// Throws that an MPI call of the cell that runs cannot end, or cannot be made. why  a sentence.
void throw_failed_call(const std::string& why);

}  // namespace px::engine
