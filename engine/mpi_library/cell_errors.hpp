#pragma once

#include <functional>
#include <string>

namespace px::engine {

/// Makes MPI's errors those of the cell that runs, in place of the end of all ranks. For
/// MPI_COMM_WORLD and what is made of it, and for files. Call it once, when MPI is initialized.
/// fail  leaves the cell with MPI's words; returns where none runs, and all ranks end.
void hand_errors_to(std::function<void(const std::string& words)> fail);

}  // namespace px::engine
