#pragma once

// Makes communicators of gangs. Some ranks of an MPI world make a communicator, and the other ranks
// do not take part. rc.gang() of the Python package runs look() and join() on C++ ranks, and
// polyxeus.engine_calls.gangs on Python ranks. The engine runs begin_task() before a task of
// several ranks.

#include "interpreters/cpp/prelude/px_exports.hpp"
#include "interpreters/cpp/prelude/px_standard.hpp"

#if __has_include(<mpi.h>)
namespace px::gangs {

constexpr int first_tag = 21000, tag_count = 1000;

struct Made {
  long long number = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
};
/// Communicators that this rank has made, by the ranks in the world.
using AllMade = std::map<std::vector<int>, Made>;

/// The communicators of views.
inline AllMade& made() {
  static AllMade all;
  return all;
}
/// The communicators of tasks of several ranks. The controller has given them their numbers.
inline AllMade& made_for_tasks() {
  static AllMade all;
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
  const long long number = found == made().end() ? 0 : found->second.number;
  return std::to_string(rank) + " " + std::to_string(size) + " " + std::to_string(number) + " " +
         run;
}

/// Returns the communicator of a gang. All ranks of the gang call this function.
/// ranks   the ranks in the world, in the order of the gang.
/// number  the number of the communicator, the same on all ranks. If it differs from the number of
///         the last communicator, a new communicator is made.
/// known   made() or made_for_tasks().
inline MPI_Comm join(const std::vector<int>& ranks, long long number, AllMade& known = made()) {
  if (const auto found = known.find(ranks); found != known.end() && found->second.number == number)
    return found->second.communicator;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group);
  const int code = MPI_Comm_create_group(
      MPI_COMM_WORLD, group, static_cast<int>(first_tag + number % tag_count), &communicator);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  if (code != MPI_SUCCESS) throw std::runtime_error("MPI cannot make the communicator of a gang");
  known[ranks] = {number, communicator};
  return communicator;
}

/// Frees a communicator that join() has made. MPI frees it when the other ranks have freed it, too.
inline void free_made(AllMade& known, AllMade::iterator found) {
  if (found->second.communicator != MPI_COMM_NULL) MPI_Comm_free(&found->second.communicator);
  known.erase(found);
}

/// The communicator of the latest task of several ranks.
inline MPI_Comm& of_task() {
  static MPI_Comm communicator = MPI_COMM_NULL;
  return communicator;
}

/// Makes the communicator of a task of several ranks. Returns the rank of this engine in it.
/// ranks, number  those of the request's header (docs/protocol.md, "Gangs"); no ranks: the task has
///                only this rank.
/// unneeded       the communicators to free: the number of each, followed by its ranks.
inline int begin_task(const std::vector<int>& ranks, long long number,
                      const std::vector<std::vector<long long>>& unneeded) {
  int is_initialized = 0, rank = 0;
  MPI_Initialized(&is_initialized);
  if (!is_initialized)
    throw std::runtime_error(
        "a task of several ranks needs MPI: start the engines with `pxcluster start "
        "--engines=mpi`");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!ranks.empty() && std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
    throw std::runtime_error(
        "the launcher and MPI disagree about the rank of this engine: it is rank " +
        std::to_string(rank) + " of MPI, and not among the ranks of the task");
  AllMade& known = made_for_tasks();
  for (const std::vector<long long>& each : unneeded)
    if (const auto found = known.find({each.begin() + 1, each.end()});
        found != known.end() && found->second.number == each.front())
      free_made(known, found);
  if (const auto found = known.find(ranks); found != known.end() && found->second.number != number)
    free_made(known, found);
  of_task() = ranks.empty() ? MPI_COMM_SELF : join(ranks, number, known);
  MPI_Comm_rank(of_task(), &rank);
  return rank;
}

}  // namespace px::gangs

namespace px {

/// The communicator of the task of several ranks that this engine is running.
/// errors  std::runtime_error: the engine runs another request.
inline MPI_Comm comm() {
  if (!px_cell_is_in_gang())
    throw std::runtime_error(
        "this is not a task of several ranks: ask for ranks in a call on a load-balanced view, "
        "e.g. map(f, items, ranks=4)");
  return gangs::of_task();
}

}  // namespace px
#else
namespace px::gangs {

inline int begin_task(const std::vector<int>&, long long,
                      const std::vector<std::vector<long long>>&) {
  throw std::runtime_error(
      "a task of several ranks needs mpi.h, which was not found when this engine started: install "
      "the development files of its MPI library (Debian: libopenmpi-dev or libmpich-dev)");
}

}  // namespace px::gangs
#endif
