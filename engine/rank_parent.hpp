#pragma once

#include <optional>

#include "engine/mpi/world.hpp"

namespace px::engine {

/// For pxengine under an MPI launcher or srun, before it becomes the engine: forks. If an engine's
/// process ended without signing off, no other process could report how: the launcher knows it, but
/// reports it late or not at all. So the child becomes the engine, and this process stays as its
/// parent, reports to the controller how the engine's process ended, and then ends in the same way:
/// only then does the launcher notice it and end the other ranks. It passes SIGTERM on, but not
/// other signals: launchers send those to the process group. The engine is killed when its parent
/// is.
/// Call it while there is one thread.
/// outlasts_world  If a rank of an MPI world ends that had begun to work, the parent stays until
///                 the others have ended, the launcher is gone, or it receives SIGTERM itself: so
///                 the launcher lets the others live. If the launcher watches the connection of the
///                 rank to its PMIx server, the parent keeps that open, too.
/// result  in the child, and if no process can be forked: nothing; in the parent, after the
///         engine has ended: the exit code of this process.
std::optional<int> stay_as_parent(const World& world, bool outlasts_world);

}  // namespace px::engine
