#pragma once

#include <functional>
#include <string>

namespace px::engine {

/// Turns MPI's errors into errors of the cell that runs, instead of the end of all ranks: for
/// MPI_COMM_WORLD and communicators made of it, and for files. Call it once, after MPI is
/// initialized.
/// fail  leaves the cell with MPI's message; returns if no cell runs, in which case all ranks end.
void hand_errors_to(std::function<void(const std::string& words)> fail);

}  // namespace px::engine
