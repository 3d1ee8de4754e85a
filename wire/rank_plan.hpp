#pragma once

#include <string>
#include <vector>

#include "wire/json.hpp"

namespace px {

/// The knowledge of pxcluster about the engines of one start, from which each engine tells
/// torch.distributed and JAX its place among them and its GPUs. Sent with the engines' connection
/// info as its member "ranks". A value.
struct RankPlan {
  /// The number of engines on each host, in the order of their ranks. Empty: the engines are ranks
  /// only if an MPI launcher says so.
  std::vector<int> hosts = {};
  std::string address = {};     ///< The address of rank 0 for other hosts; empty: unknown.
  std::vector<int> ports = {};  ///< For torch and for JAX: ports that were free when they were
                                ///< chosen.
  std::string gpus = {};        ///< "auto", "none", or the number for each engine; empty: none.
  bool operator==(const RankPlan&) const = default;
};

/// Members that are not set are left out.
Json write_rank_plan(const RankPlan& plan);
/// Reads it from a member of the connection info. Malformed members are left out, as if they were
/// absent.
RankPlan read_rank_plan(const Json& json);

}  // namespace px
