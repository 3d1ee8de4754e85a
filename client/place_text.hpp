#pragma once

#include <string>
#include <vector>

#include "client/engine_place.hpp"

namespace px::client {

/// Describes what the engines do: one sentence for each group of engines that are at the same
/// place, in the order of their ids, such as "0, 1 and 3 in MPI_Barrier for 42 s (cell line 3:
/// comm.Barrier())" and "2 idle (its last cell raised ValueError)". If the times in a group differ,
/// the sentence gives the longest, as "for up to 42 s".
/// patience  the time that the engines had for their answer.
std::vector<std::string> fold_places(const std::vector<EnginePlace>& places, Duration patience);

/// Like fold_places(), followed by a sentence for the engines that have loaded MPI: whether their
/// MPI calls can be interrupted, as "0-3: interrupts of MPI calls: on (Open MPI v4.1.4)".
std::vector<std::string> describe_places(const std::vector<EnginePlace>& places, Duration patience);

/// The MPI call, or call of torch.distributed, in which the engine is, without its time: "MPI_Recv
/// from rank 1 with tag 9", "all_reduce of 4.2 MB (7th call of its group)"; "C code that holds
/// Python's lock" if the engine cannot report its line. Empty: none of these.
std::string call_text(const EnginePlace& place);
/// The line of the user's code at which the engine is: "cell line 3: comm.Barrier()", or only the
/// text of the line. Empty: unknown.
std::string line_text(const EnginePlace& place);

/// Whether MPI calls can be interrupted, in words: "interrupts of MPI calls: on (Open MPI v4.1.4)".
/// Empty if the engine has not reported it, e.g. because it has loaded no MPI.
/// mpi, interrupts  as in EngineFacts.
std::string interrupts_text(const std::string& mpi, const std::string& interrupts);

}  // namespace px::client
