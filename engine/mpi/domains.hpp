#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "engine/mpi/rank_board.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Ranks that go on to their epochs together, and the communicators that get new carriers then: the
/// world, or ranks that have made a communicator without the other ranks of the world, as a gang
/// does. Communicators of the same ranks that were made so belong to one domain, and what is made
/// of a communicator by all of its ranks belongs to the domain of that communicator. A rank may be
/// in several domains, each with epochs of its own.
struct Domain {
  const std::uint64_t number;       ///< The same on all of its ranks; 0: the world.
  const std::vector<Rank> members;  ///< Ascending.
  const std::vector<Rank> others;   ///< `members` without this rank.
  RankBoard board{};                ///< What the others have told about this domain.
  std::uint64_t epoch = 0;
  bool is_renewed = true;          ///< All of its communicators of this epoch are ready.
  bool had_communicators = false;  ///< When this rank left the epoch before.
  std::uint64_t renewal = 0;       ///< The meeting in which its ranks renew them.
  bool has_called = false;         ///< This cell, in this epoch, something that needs others.
  bool has_stopped = false;        ///< In this cell.
  /// The questions of waiting ranks that this rank has answered while it ran no cell.
  std::vector<std::pair<int, CollectiveCall>> answered{};
  /// The communicators made in this epoch, by a hash of their ranks.
  std::map<std::uint64_t, std::uint64_t> made_of_group{};
};

/// The domains of a rank. Uses no MPI and no clock.
class Domains {
 public:
  /// world  its ranks that take part, ascending, this one among them.
  Domains(Rank own, const std::vector<int>& world);
  Domains(Domains&&) = delete;

  Domain& world() { return *world_; }
  /// The domain of these ranks, which are at least two, this one among them. It lives as long as
  /// this object.
  Domain& of(std::vector<int> ranks);
  /// A note has come: the boards of its domains hear it. Notes about other ranks' domains are for
  /// them.
  void hear(const RankNote& note, Instant now);
  const std::map<std::uint64_t, std::unique_ptr<Domain>>& all() const { return by_number_; }

 private:
  Domain& add(std::uint64_t number, const std::vector<int>& ranks);

  const Rank own_;
  const std::vector<int> ranks_;  // of the world
  std::map<std::uint64_t, std::unique_ptr<Domain>> by_number_;
  Domain* world_ = nullptr;
};

}  // namespace px::engine
