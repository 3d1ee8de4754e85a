#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/mpi/rank_board.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// Decides whether a rank that has come to a collective call takes part in it, so that all of the
/// call's ranks do or none does, although each may be interrupted at any moment. A rank that wants
/// to go away asks the others first, and looks once more: if all have come by then it promises to
/// stay. The call begins when all have come, and nobody asks any more or has left. So a rank that
/// has promised to stay waits for the answers of others that ask, as one that was not interrupted
/// does. Sees no MPI and no clock. (docs/decisions/0009-interrupts-in-mpi.md)
class CallEntry {
 public:
  enum class Step {
    wait,   ///< Look again.
    ask,    ///< Tell the others NoteKind::leaving, then look again.
    stay,   ///< Tell them NoteKind::stays, then look again.
    enter,  ///< Begin the call.
    leave,  ///< Go on to the next epoch because of the interrupt; where() says more.
    fail,   ///< Go on to the next epoch as others do not come; why() says which.
  };

  /// What the rank has found out by a look.
  struct Look {
    bool have_all_come = false;  ///< To the call. Who has come once has come.
    bool has_heard_all = false;  ///< The board knows what was told before that.
    bool is_interrupted = false;
    Instant now;  ///< After it has asked: the time before the look.
  };

  /// board   what this rank has heard; outlives this, as `others` does.
  /// others  the ranks of the call without this one.
  /// cell    that this rank runs.
  /// grace   how long it waits for one that has failed.
  CallEntry(const RankBoard& board, const std::vector<Rank>& others, const CollectiveCall& call,
            std::uint64_t cell, Duration grace)
      : board_(board), others_(others), call_(call), cell_(cell), grace_(grace) {}

  /// What it is to do after a look. Not to be called any more after enter, leave and fail.
  Step next(const Look& look);
  /// Whether it has told the others anything of the call.
  bool has_asked() const { return phase_ != EntryPhase::waits; }
  /// Whether it was interrupted, so that it leaves the cell after a call that it enters.
  bool is_interrupted() const { return is_interrupted_; }
  /// Of leave: "", or words such as ", which rank 2 had not reached".
  const std::string& where() const { return where_; }
  /// Of fail, and of ask where it was not interrupted: "rank 2 raised ValueError: x".
  const std::string& why() const { return why_; }

 private:
  enum class EntryPhase { waits, asks, stays };

  Step ask(Instant until);
  Step answer(const Look& look);
  /// They will not all come.
  Step give_up(bool have_all_come);

  const RankBoard& board_;
  const std::vector<Rank>& others_;
  const CollectiveCall call_;
  const std::uint64_t cell_;
  const Duration grace_;
  EntryPhase phase_ = EntryPhase::waits;
  Instant until_;  // it asks
  bool is_interrupted_ = false;
  std::string where_, why_;
};

}  // namespace px::engine
