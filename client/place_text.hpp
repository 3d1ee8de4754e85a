#pragma once

#include <string>
#include <vector>

#include "client/engine_place.hpp"

namespace px::client {

/// Describes what the engines do. Engines that execute the same call and line of code form a group,
/// and each group gets a sentence, such as "0, 1 and 3 in MPI_Barrier for 42 s (cell line 3:
/// comm.Barrier())" and "2 idle (its last cell raised ValueError)". If the engines of a group have
/// different times, the sentence gives the longest time, as in "for up to 42 s".
/// patience  the time that the engines had for their answer.
std::vector<std::string> fold_places(const std::vector<EnginePlace>& places, Duration patience);

/// Returns the sentences of fold_places(). If engines have loaded MPI, further sentences say
/// whether their MPI calls can be interrupted: "0-3: interrupts of MPI calls: on (Open MPI
/// v4.1.4)".
std::vector<std::string> describe_places(const std::vector<EnginePlace>& places, Duration patience);

/// Returns the MPI call, or the call of torch.distributed, that the engine is executing, without
/// the time: "MPI_Recv from rank 1 with tag 9", "all_reduce of 4.2 MB (7th call of its group)".
/// Returns "C code that holds Python's lock" if such code keeps the engine from reporting its line.
/// Otherwise, the text is empty.
std::string call_text(const EnginePlace& place);
/// Returns the line of the user's code that the engine is executing: "cell line 3: comm.Barrier()",
/// or only the text of the line. The result is empty if the line is unknown.
std::string line_text(const EnginePlace& place);

/// Returns as text whether MPI calls can be interrupted: "interrupts of MPI calls: on (Open MPI
/// v4.1.4)". The text is empty if the engine has not reported this, for example because it has
/// loaded no MPI.
/// mpi, interrupts  as in EngineFacts.
std::string interrupts_text(const std::string& mpi, const std::string& interrupts);

}  // namespace px::client
