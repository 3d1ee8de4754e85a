// MPI's functions that make and free communicators, in front of the MPI library's own
// (mpi_calls.cpp).

#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/mpi_calls/calls.hpp"

namespace px::engine {
namespace {

/// The ranks that the members of a group have in another one, or MPI_UNDEFINED.
std::vector<int> ranks_in(MPI_Group whole, MPI_Group group) {
  int size = 0;
  PMPI_Group_size(group, &size);
  std::vector<int> ranks(static_cast<std::size_t>(size)), translated(ranks.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  PMPI_Group_translate_ranks(group, size, ranks.data(), whole, translated.data());
  return translated;
}

/// Calls operation(group) with the same ranks as a group that was made of `communicator`: MPICH 4.0
/// crashes in MPI_Comm_create_group where it is one of another communicator of these ranks.
template <typename Operation>
int with_group_of(MPI_Comm communicator, MPI_Group group, const Operation& operation) {
  MPI_Group whole = MPI_GROUP_NULL, same = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &whole);
  const std::vector<int> ranks = ranks_in(whole, group);
  const bool is_part = std::count(ranks.begin(), ranks.end(), MPI_UNDEFINED) == 0;
  if (is_part) PMPI_Group_incl(whole, static_cast<int>(ranks.size()), ranks.data(), &same);
  const int code = operation(is_part ? same : group);  // else MPI says what is wrong
  if (is_part && same != MPI_GROUP_EMPTY) PMPI_Group_free(&same);
  PMPI_Group_free(&whole);
  return code;
}

/// Waits until all ranks of the group have come to make a communicator: that cannot be left, and a
/// rank that does not come would keep the others in it for ever.
int meet_group(const char* name, MPI_Comm communicator, MPI_Group group, int tag) {
  MpiSteps* const steps = MpiSteps::of_any_thread();
  const InCall in_call{steps};
  const KnownCommunicator* const known = steps ? steps->known(communicator) : nullptr;
  if (!known) return MPI_SUCCESS;
  MPI_Group whole = MPI_GROUP_NULL;
  PMPI_Comm_group(communicator, &whole);
  const std::vector<int> ranks = ranks_in(whole, group);
  PMPI_Group_free(&whole);
  const auto count = [&](int rank) { return std::count(ranks.begin(), ranks.end(), rank); };
  if (ranks.size() < 2 || count(MPI_UNDEFINED) > 0 || count(known->own) == 0) return MPI_SUCCESS;
  return steps->meet(name, *known, ranks, tag, true);
}

/// Before two groups make an intercommunicator, which cannot be left: waits until all ranks of this
/// group have come, and then until its leader has met the other one. The roll call of the call
/// itself ends when the leader has come there.
int meet_leader(CallName name, MPI_Comm communicator, int leader, MPI_Comm peers, int remote_leader,
                int tag) {
  MpiSteps* const steps = MpiSteps::of_any_thread();
  const InCall in_call{steps};
  if (!steps || !steps->known(communicator)) return MPI_SUCCESS;
  const int come = collective(name, communicator, [](MPI_Comm) { return MPI_SUCCESS; });
  if (come != MPI_SUCCESS) return come;
  int rank = MPI_UNDEFINED;
  PMPI_Comm_rank(communicator, &rank);
  const KnownCommunicator* const known = rank == leader ? steps->known(peers) : nullptr;
  if (!known || remote_leader < 0 || remote_leader == known->own ||
      remote_leader >= static_cast<int>(known->members.size()))
    return MPI_SUCCESS;
  const auto both = std::minmax(known->own, remote_leader);
  return steps->meet(name.text, *known, {both.first, both.second}, tag, false);
}

}  // namespace
}  // namespace px::engine

extern "C" {

#define PX_MAKER(name, parameters, arguments)                                       \
  int MPI_##name parameters {                                                       \
    PX_CALLED;                                                                      \
    return px::engine::maker("MPI_" #name, communicator, result,                    \
                             [&](MPI_Comm comm) { return PMPI_##name arguments; }); \
  }
// The copy has the attributes and the topology of the cells' own communicator.
int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm* result) {
  PX_CALLED;
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  const auto make = [&] {
    return px::engine::maker("MPI_Comm_dup", communicator, result,
                             [&](MPI_Comm) { return PMPI_Comm_dup(communicator, result); });
  };
  return steps ? steps->duplicate(communicator, result, make) : make();
}
int MPI_Comm_dup_with_info(MPI_Comm communicator, MPI_Info info, MPI_Comm* result) {
  PX_CALLED;
  return px::engine::maker("MPI_Comm_dup_with_info", communicator, result, [&](MPI_Comm) {
    return PMPI_Comm_dup_with_info(communicator, info, result);
  });
}
PX_MAKER(Comm_split, (MPI_Comm communicator, int color, int key, MPI_Comm* result),
         (comm, color, key, result))
PX_MAKER(Comm_split_type,
         (MPI_Comm communicator, int type, int key, MPI_Info info, MPI_Comm* result),
         (comm, type, key, info, result))
PX_MAKER(Comm_create, (MPI_Comm communicator, MPI_Group group, MPI_Comm* result),
         (comm, group, result))
PX_MAKER(Cart_create,
         (MPI_Comm communicator, int count, const int sizes[], const int periods[], int reorder,
          MPI_Comm* result),
         (comm, count, sizes, periods, reorder, result))
PX_MAKER(Cart_sub, (MPI_Comm communicator, const int remains[], MPI_Comm* result),
         (comm, remains, result))
PX_MAKER(Graph_create,
         (MPI_Comm communicator, int nodes, const int index[], const int edges[], int reorder,
          MPI_Comm* result),
         (comm, nodes, index, edges, reorder, result))
PX_MAKER(Dist_graph_create,
         (MPI_Comm communicator, int count, const int sources[], const int degrees[],
          const int destinations[], const int weights[], MPI_Info info, int reorder,
          MPI_Comm* result),
         (comm, count, sources, degrees, destinations, weights, info, reorder, result))
PX_MAKER(Dist_graph_create_adjacent,
         (MPI_Comm communicator, int indegree, const int sources[], const int source_weights[],
          int outdegree, const int destinations[], const int destination_weights[], MPI_Info info,
          int reorder, MPI_Comm* result),
         (comm, indegree, sources, source_weights, outdegree, destinations, destination_weights,
          info, reorder, result))
#undef PX_MAKER

int MPI_Comm_create_group(MPI_Comm communicator, MPI_Group group, int tag, MPI_Comm* result) {
  PX_CALLED;
  constexpr const char* name = "MPI_Comm_create_group";
  // Not all ranks of the communicator come: no roll call, but a meeting. MPI makes the group's
  // communicator of the cells' own one, not of its carrier: so the group does not wait until the
  // other ranks, too, have left an epoch that was stopped.
  const auto make = [&] {
    const int met = px::engine::meet_group(name, communicator, group, tag);
    if (met != MPI_SUCCESS) return met;
    return px::engine::with_group_of(communicator, group, [&](MPI_Group of_it) {
      return PMPI_Comm_create_group(communicator, of_it, tag, result);
    });
  };
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_this_thread();
  int code = MPI_SUCCESS;
  if (steps) {
    const px::engine::InCall in_call{steps};
    const px::engine::KnownCommunicator* const known = steps->known(communicator);
    if (known) code = steps->refuse_lost(name, *known);
    if (code == MPI_SUCCESS) code = make();
  } else {
    code = px::engine::of_other_thread(name, make);
  }
  px::engine::MpiSteps* const any = px::engine::MpiSteps::of_any_thread();
  if (any && code == MPI_SUCCESS) any->made(*result);
  return code;
}

int MPI_Intercomm_create(MPI_Comm communicator, int leader, MPI_Comm peers, int remote_leader,
                         int tag, MPI_Comm* result) {
  PX_CALLED;
  const int met = px::engine::meet_leader("MPI_Intercomm_create", communicator, leader, peers,
                                          remote_leader, tag);
  if (met != MPI_SUCCESS) return met;
  return px::engine::collective("MPI_Intercomm_create", communicator, [&](MPI_Comm comm) {
    px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
    const int code = PMPI_Intercomm_create(comm, leader, px::engine::MpiSteps::current(peers),
                                           remote_leader, tag, result);
    if (steps && code == MPI_SUCCESS) px::engine::made_between(*steps, *result);
    return code;
  });
}

int MPI_Intercomm_merge(MPI_Comm communicator, int is_high, MPI_Comm* result) {
  PX_CALLED;
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  return px::engine::collective("MPI_Intercomm_merge", communicator, [&](MPI_Comm) {
    const int code = PMPI_Intercomm_merge(communicator, is_high, result);
    const px::engine::Intercommunicator between{communicator};
    if (steps && code == MPI_SUCCESS) steps->made(*result, steps->own_of(between));
    return code;
  });
}

int MPI_Comm_set_attr(MPI_Comm communicator, int key, void* value) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  const px::engine::InCall in_call{steps};
  const int code = PMPI_Comm_set_attr(communicator, key, value);
  if (steps && code == MPI_SUCCESS) steps->set_attribute(communicator, key, value);
  return code;
}

int MPI_Comm_get_attr(MPI_Comm communicator, int key, void* value, int* is_set) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  const int code = PMPI_Comm_get_attr(communicator, key, value, is_set);
  if (steps && code == MPI_SUCCESS && *is_set && steps->is_stale_duplicate(communicator, key))
    *is_set = 0;
  return code;
}

int MPI_Comm_set_errhandler(MPI_Comm communicator, MPI_Errhandler handler) {
  const MPI_Comm current = px::engine::MpiSteps::current(communicator);
  if (current != communicator) PMPI_Comm_set_errhandler(current, handler);
  return PMPI_Comm_set_errhandler(communicator, handler);
}

int MPI_Comm_free(MPI_Comm* communicator) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  return steps ? steps->free("MPI_Comm_free", communicator, PMPI_Comm_free)
               : PMPI_Comm_free(communicator);
}

int MPI_Comm_disconnect(MPI_Comm* communicator) {
  px::engine::MpiSteps* const steps = px::engine::MpiSteps::of_any_thread();
  if (!steps) return PMPI_Comm_disconnect(communicator);
  px::engine::Intercommunicator between{*communicator};
  const MPI_Comm own = steps->own_of(between);
  if (own == MPI_COMM_NULL)
    return steps->free("MPI_Comm_disconnect", communicator, PMPI_Comm_disconnect);
  return px::engine::free_shared("MPI_Comm_disconnect", &between, [&](auto*) {
    // MPI_Comm_disconnect waits for operations that a stopped cell has begun, which may never end.
    return steps->has_stopped_since_made(own) ? PMPI_Comm_free(communicator)
                                              : PMPI_Comm_disconnect(communicator);
  });
}

}  // extern "C"
