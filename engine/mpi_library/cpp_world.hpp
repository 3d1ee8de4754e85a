#pragma once

#include <memory>
#include <vector>

#include "engine/mpi/mpi_world.hpp"

namespace px::engine {

/// A cell is about to finalize MPI: the C++ engine makes no MPI calls any more.
void end_cpp_world();

}  // namespace px::engine

/// The functions of libpolyxeus_mpi*.so for C++ engines, in addition to MPI's own functions. Their
/// arguments are C++ types, so both must come from the same build: an engine checks the version
/// first.
extern "C" {

/// px::version
__attribute__((visibility("default"))) const char* px_mpi_version();

/// Initializes MPI: returns when all ranks have done so.
/// expected  the world according to the launcher.
/// peers     the ranks whose engines run C++ as well, this one included.
/// made      errors: bad_input: MPI sees another world, so it is not the launcher's MPI.
__attribute__((visibility("default"))) void px_mpi_join_world(
    const px::engine::World* expected, const std::vector<px::Rank>* peers,
    px::Result<std::unique_ptr<px::engine::MpiWorld>>* made);
}
