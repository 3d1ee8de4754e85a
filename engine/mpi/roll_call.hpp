#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "wire/ids.hpp"

namespace px::engine {

/// The n-th collective call on a communicator. Communicators have numbers that are the same on all
/// of their ranks, as each is made from its parent's number.
struct CollectiveCall {
  std::uint64_t communicator = 0;
  std::uint64_t place = 0;  ///< 1 = the first one.

  auto operator<=>(const CollectiveCall&) const = default;
};

/// A message that a rank has begun to send and that nobody has received.
struct OpenSend {
  std::uint64_t communicator = 0;
  int from = 0, to = 0;  ///< Ranks of that communicator.
  int tag = 0;
  std::int64_t bytes = 0;
};

/// What an interrupted rank tells the others, twice.
struct Standing {
  /// waits: what it waits in, before it leaves it. misses: which of the calls that others wait in
  /// it has not come to; said when it knows what all wait in.
  enum class Part { waits, misses };

  std::uint64_t round = 0;
  Rank rank;
  Part part = Part::waits;
  std::vector<CollectiveCall> calls;
  std::vector<OpenSend> sends;  ///< Of Part::waits.
};

/// Brings ranks back into step that were interrupted in different places: those that had not come
/// to a collective call in which others wait take part in it after all, for its roll call alone, so
/// that it ends on all of them and the next one meets the next one. Counts what they say; sees no
/// MPI. (docs/decisions/0009-interrupts-in-mpi.md)
class RollCall {
 public:
  /// ranks  all that are to speak, this one among them.
  RollCall(std::uint64_t round, Rank own, std::vector<Rank> ranks);

  std::uint64_t round() const { return round_; }
  /// One of another round is left aside.
  void hear(const Standing& standing);

  /// All have said what they wait in: nobody goes on by itself from now on.
  bool all_wait() const { return waits_heard_.size() == ranks_.size(); }
  /// All have said what they miss.
  bool all_told() const { return misses_heard_.size() == ranks_.size(); }
  /// Who has not said all yet.
  std::vector<Rank> silent() const;

  /// What somebody waits in; final when all_wait().
  const std::set<CollectiveCall>& calls() const { return calls_; }
  /// Final when all_wait().
  const std::vector<OpenSend>& sends() const { return sends_; }
  /// The ranks that have not come to this call; final when all_told(). None: it goes on as if
  /// nobody had been interrupted.
  std::vector<Rank> missing(const CollectiveCall& call) const;

 private:
  std::uint64_t round_;
  std::vector<Rank> ranks_;
  std::set<int> waits_heard_, misses_heard_;
  std::set<CollectiveCall> calls_;
  std::vector<OpenSend> sends_;
  std::map<CollectiveCall, std::vector<Rank>> missing_;
};

}  // namespace px::engine
