#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/mpi/rank_board.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Decides whether a rank that has reached a collective call takes part in it, so that either all
/// of the call's ranks take part or none, although each may be interrupted at any moment. A rank
/// that wants to leave asks the others first, and looks again: if all have reached the call by
/// then, it promises to stay. The call begins when all have reached it, and no rank still asks or
/// has left. So a rank that has promised to stay waits for the answers of the others that ask, as a
/// rank that was not interrupted does. Uses no MPI and no clock.
/// (docs/decisions/0009-interrupts-in-mpi.md)
class CallEntry {
 public:
  enum class Step {
    wait,   ///< Look again.
    ask,    ///< Send the others NoteKind::leaving, and look again after that.
    stay,   ///< Send them NoteKind::stays, and look again after that.
    enter,  ///< Begin the call.
    leave,  ///< Go on to the next epoch because of the interrupt; where() gives details.
    fail,   ///< Go on to the next epoch because other ranks do not come; why() names them.
  };

  /// What the rank has found out in one look.
  struct Look {
    bool have_all_come = false;  ///< Whether all ranks have reached the call. A rank that has
                                 ///< reached it stays counted.
    bool has_heard_all = false;  ///< Whether the board has all that was sent before that.
    bool is_interrupted = false;
    Instant now;  ///< After the rank has asked: the time before the look.
  };

  /// board   the notes that this rank has received; outlives this object, as `others` does.
  /// others  the ranks of the call without this one.
  /// cell    the cell that this rank runs.
  /// grace   how long the rank waits for one that has failed.
  CallEntry(const RankBoard& board, const std::vector<Rank>& others, const CollectiveCall& call,
            std::uint64_t cell, Duration grace)
      : board_(board), others_(others), call_(call), cell_(cell), grace_(grace) {}

  /// The rank's next step after a look. Must not be called again after enter, leave and fail.
  Step next(const Look& look);
  /// Whether it has sent the others anything about the call.
  bool has_asked() const { return phase_ != EntryPhase::waits; }
  /// Whether it was interrupted, so that it leaves the cell after a call that it enters.
  bool is_interrupted() const { return is_interrupted_; }
  /// For leave: "", or words such as ", which rank 2 had not reached".
  const std::string& where() const { return where_; }
  /// For fail, and for ask without an interrupt: "rank 2 raised ValueError: x".
  const std::string& why() const { return why_; }

 private:
  enum class EntryPhase { waits, asks, stays };

  Step ask(Instant until);
  Step answer(const Look& look);
  /// Some of the ranks will not come.
  Step give_up(bool have_all_come);

  const RankBoard& board_;
  const std::vector<Rank>& others_;
  const CollectiveCall call_;
  const std::uint64_t cell_;
  const Duration grace_;
  EntryPhase phase_ = EntryPhase::waits;
  Instant until_;  // how long it asks
  bool is_interrupted_ = false;
  std::string where_, why_;
};

}  // namespace px::engine
