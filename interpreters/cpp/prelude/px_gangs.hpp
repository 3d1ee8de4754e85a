#pragma once

// Makes communicators of gangs. Some ranks of an MPI world make a communicator, and the other ranks
// do not take part. rc.gang() of the Python package runs these functions on C++ ranks, and
// polyxeus.engine_calls.gangs on Python ranks.

#include "interpreters/cpp/prelude/px_standard.hpp"

#if __has_include(<mpi.h>)
namespace px::gangs {

constexpr int first_tag = 21000, tag_count = 1000;

struct Made {
  int number = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
};

/// The communicators that this rank has made, by the ranks in the world.
inline std::map<std::vector<int>, Made>& made() {
  static std::map<std::vector<int>, Made> all;
  return all;
}

/// "RANK SIZE NUMBER RUN" of this engine. NUMBER is the number of the last communicator that it has
/// made for a gang of these ranks; 0: none. RUN is the id that the MPI launcher has given to the
/// run in which it started the engine; it may be empty.
inline std::string look(const std::vector<int>& ranks) {
  int is_initialized = 0, rank = 0, size = 1;
  MPI_Initialized(&is_initialized);
  if (is_initialized) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
  }
  std::string run;
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "SLURM_STEP_ID"})
    if (const char* const value = std::getenv(name); run.empty() && value) run = value;
  const auto found = made().find(ranks);
  const int number = found == made().end() ? 0 : found->second.number;
  return std::to_string(rank) + " " + std::to_string(size) + " " + std::to_string(number) + " " +
         run;
}

/// Returns the communicator of a gang. All ranks of the gang call this function.
/// ranks   the ranks in the world, in the order of the gang.
/// number  the number of the communicator, the same on all ranks. If it differs from the number of
///         the last communicator, a new communicator is made.
inline MPI_Comm join(const std::vector<int>& ranks, int number) {
  if (const auto found = made().find(ranks);
      found != made().end() && found->second.number == number)
    return found->second.communicator;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  const int code =
      MPI_Comm_create_group(MPI_COMM_WORLD, group, first_tag + number % tag_count, &communicator);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  if (code != MPI_SUCCESS) throw std::runtime_error("MPI cannot make the communicator of a gang");
  made()[ranks] = {number, communicator};
  return communicator;
}

}  // namespace px::gangs
#endif
