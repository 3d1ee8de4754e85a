#pragma once

#include <string>
#include <vector>

#include "client/engine_place.hpp"

namespace px::client {

/// Where the engines are, for people: a sentence for each group of them that is in the same place,
/// in the order of their ids, as "0, 1 and 3 in MPI_Barrier for 42 s (cell line 3: comm.Barrier())"
/// and "2 idle (its last cell raised ValueError)". Where times differ the longest one is told, as
/// "for up to 42 s".
/// patience  the time that engines without an answer had.
std::vector<std::string> fold_places(const std::vector<EnginePlace>& places, Duration patience);

/// The same, and then, for the engines that have loaded an MPI, whether its calls can be
/// interrupted: "0-3: interrupts of MPI calls: on (Open MPI v4.1.4)".
std::vector<std::string> describe_places(const std::vector<EnginePlace>& places, Duration patience);

/// "interrupts of MPI calls: on (Open MPI v4.1.4)"; empty: the engine has loaded no MPI.
/// mpi, interrupts  as in EngineFacts.
std::string interrupts_text(const std::string& mpi, const std::string& interrupts);

}  // namespace px::client
