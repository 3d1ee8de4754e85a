#pragma once

#include <memory>
#include <vector>

#include "engine/mpi/mpi_world.hpp"

namespace px::engine {

/// MPI is about to be finalized, by a cell: a C++ engine makes no calls of its own any more.
void end_cpp_world();

}  // namespace px::engine

/// What libpolyxeus_mpi*.so offers to C++ engines, beside MPI's own functions. As C++ types pass
/// between them, both must come from the same build: an engine asks for the version first.
extern "C" {

/// px::version
__attribute__((visibility("default"))) const char* px_mpi_version();

/// Initializes MPI: returns when all ranks have done so.
/// expected  the world that the launcher says.
/// peers     the ranks whose engines speak C++ as well, this one among them.
/// made      errors: bad_input: MPI sees another world, so it is another MPI than the launcher's.
__attribute__((visibility("default"))) void px_mpi_join_world(
    const px::engine::World* expected, const std::vector<px::Rank>* peers,
    px::Result<std::unique_ptr<px::engine::MpiWorld>>* made);
}
