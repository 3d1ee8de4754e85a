#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/mpi/call_form.hpp"
#include "engine/mpi/rank_board.hpp"
#include "engine/mpi_calls/communicators.hpp"
#include "engine/mpi_calls/small_calls.hpp"

namespace px::engine {

/// The description of the collective call that a rank has reached.
struct CalledForm {
  CallName name;
  CallForm form{};            ///< Its name need not be set.
  SmallCall small{};          ///< The same call, if ranks of one host may make it without MPI.
  bool is_roll_call = false;  ///< Whether the call does nothing but the roll call.
};

/// The roll call of a collective call: reads memory if all ranks are on this host, otherwise MPI
/// carries it. For the main thread.
class RollCall {
 public:
  /// This rank reaches the call.
  /// known  outlives the roll call, as `called.name` does.
  RollCall(KnownCommunicator& known, std::uint64_t epoch, const CollectiveCall& call,
           const CalledForm& called);
  ~RollCall();
  RollCall(RollCall&&) = delete;

  /// Whether all ranks have come.
  bool is_complete();
  // Precondition of the next two: all have come and continue with the call. Each rank calls both.

  /// Why the calls of the ranks do not match; nothing if they do.
  std::optional<std::string> why_mismatched();
  /// Whether a stop waits on one of them. The same on all ranks.
  bool wants_stop();
  /// This rank does not continue with the call.
  void leave();

 private:
  bool is_one_call() const;
  /// The calls of all ranks.
  const std::vector<RankCall>& calls();
  std::vector<RankCall> calls_in_memory() const;
  std::vector<RankCall> gathered_calls() const;

  KnownCommunicator& known_;
  CallForm form_;
  const CallName name_;
  CarriedRollCall carried_;
  std::vector<RankCall> calls_;  // empty: not read yet
};

}  // namespace px::engine
