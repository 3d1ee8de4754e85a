#pragma once

#include <string>
#include <vector>

namespace px::cpp {

/// The MPI that cells may call. This program itself is built without one.
struct MpiOfCells {
  std::string implementation;        ///< "openmpi" or "mpich"; "" = none.
  std::vector<std::string> folders;  ///< Where its <mpi.h> lies; empty: it is not installed.

  /// Those by which cells find <mpi.h>.
  std::vector<std::string> flags() const;
};

/// Finds the headers: those that were there when this was built, or those that mpicc names.
MpiOfCells find_mpi_headers(const std::string& implementation);

/// The MPI for a process that no MPI launcher has started: the library of the first implementation
/// that is installed is loaded for all code of the process.
MpiOfCells load_mpi_for_cells();

/// "openmpi", "mpich" or "", by the text of an mpi.h.
std::string implementation_of_header(const std::string& text);

/// The folders in the command that `mpicc -show` prints.
std::vector<std::string> include_folders_of(const std::string& command);

}  // namespace px::cpp
