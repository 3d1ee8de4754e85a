#pragma once

#include <string>
#include <vector>

namespace px::cpp {

/// The MPI that cells may call. This program itself is built without MPI.
struct MpiOfCells {
  std::string implementation;        ///< "openmpi", "mpich"; "": none.
  std::vector<std::string> folders;  ///< The folders of its <mpi.h>; empty: it is not installed.

  /// The flags with which cells find <mpi.h>.
  std::vector<std::string> flags() const;
};

/// Finds the headers: those that existed when this was built, or those that mpicc names.
MpiOfCells find_mpi_headers(const std::string& implementation);

/// The MPI for a process that no MPI launcher has started: the library of the first installed
/// implementation is loaded for all code of the process.
MpiOfCells load_mpi_for_cells();

/// "openmpi", "mpich" or "", from the text of an mpi.h.
std::string implementation_of_header(const std::string& text);

/// The folders in the command that `mpicc -show` prints.
std::vector<std::string> include_folders_of(const std::string& command);

}  // namespace px::cpp
