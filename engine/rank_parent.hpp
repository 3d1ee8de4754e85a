#pragma once

#include <optional>

#include "engine/mpi/world.hpp"

namespace px::engine {

/// For pxengine under an MPI launcher or srun, before it becomes the engine: forks. An engine whose
/// process ends without leave leaves nobody behind who could say how: the launcher knows it, and
/// tells it late or not at all. So the child becomes the engine, and this process stays as its
/// parent, tells the controller how the engine's process ended, and then ends as it did: only then
/// does the launcher learn of it and end the other ranks. SIGTERM is passed on, other signals are
/// not: launchers send them to the process group. The engine is killed when its parent is.
/// Call it while there is one thread.
/// outlasts_world  Where a rank of an MPI world ends that had begun to work, the parent stays until
///                 the others have ended, the launcher is gone, or it gets SIGTERM itself: so the
///                 launcher lets the others live. Where the launcher watches the connection of the
///                 rank to its PMIx server, the parent holds that, too.
/// result  in the child, and where no process can be forked: nothing; in the parent, once the
///         engine has ended: the exit code of this process.
std::optional<int> stay_as_parent(const World& world, bool outlasts_world);

}  // namespace px::engine
