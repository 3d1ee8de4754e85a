#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/mpi/mpi_world.hpp"

namespace px::engine {

/// libpolyxeus_mpi_openmpi.so or libpolyxeus_mpi_mpich.so in this process: MPI itself, and wrappers
/// of its functions for all code that is loaded later, cells included. It is never unloaded.
class MpiLibrary {
 public:
  /// implementation  "openmpi" or "mpich".
  /// errors          unsupported: it, or the MPI that it needs, is not installed.
  static Result<MpiLibrary> load(const std::string& implementation);

  /// Initializes MPI: returns when all ranks have done so.
  /// expected  the world according to the launcher.
  /// peers     the ranks whose engines run C++ as well, this one included.
  /// errors    bad_input: MPI sees another world, so it is not the launcher's MPI.
  Result<std::unique_ptr<MpiWorld>> join(const World& expected,
                                         const std::vector<Rank>& peers) const;

 private:
  explicit MpiLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The folders in which the library may be, for a program in this folder: next to it in a build, in
/// the Python package of the same environment, or in the folder of an installation.
std::vector<std::filesystem::path> folders_of_mpi_library(const std::filesystem::path& programs);

}  // namespace px::engine
