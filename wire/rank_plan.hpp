#pragma once

#include <string>
#include <vector>

#include "wire/json.hpp"

namespace px {

/// What pxcluster knows of the engines of one start, so that each can tell torch.distributed and
/// JAX its place among them, and which GPUs are its own. Travels with the engines' connection info
/// as its member "ranks". A value.
struct RankPlan {
  /// How many engines each host has, in the order of their ranks. Empty: the engines are ranks only
  /// if an MPI launcher says so.
  std::vector<int> hosts = {};
  std::string address = {};     ///< How the other hosts reach rank 0; empty: not known.
  std::vector<int> ports = {};  ///< For torch and for JAX: free ones when they were chosen.
  std::string gpus = {};        ///< "auto", "none", or how many each engine gets; empty: none.
  bool operator==(const RankPlan&) const = default;
};

/// Members that are not set are left out.
Json write_rank_plan(const RankPlan& plan);
/// From a member of the connection info. What is malformed is left out, as if it were not said.
RankPlan read_rank_plan(const Json& json);

}  // namespace px
