#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::engine {

/// The n-th collective call on a communicator in an epoch. Communicators have numbers that are the
/// same on all of their ranks.
struct CollectiveCall {
  std::uint64_t communicator = 0;
  std::uint64_t place = 0;  ///< 1 = the first one.

  auto operator<=>(const CollectiveCall&) const = default;
};

/// leaving  it was interrupted in a roll call, and asks whether all have come.
/// stays    it takes back what it has told: all had come to the call that it wanted to leave, or
///          it begins with another cell than the one that failed.
/// idle     asked by such a rank, or by one that waits: it runs no cell, so it comes to no call
///          for now, and sends nothing.
/// waiting  it has waited for long, although a rank has failed: see waits_for.
/// failed   its cell ended by an error; it goes on in the same epoch.
/// stopped  it does nothing any more in the epoch `epoch`, as it goes on in the next one.
enum class NoteKind { leaving, stays, idle, waiting, failed, stopped };

/// What a rank tells all others when it does not go on as they may expect.
struct RankNote {
  NoteKind kind = NoteKind::stopped;
  Rank rank;
  std::uint64_t epoch = 0;
  std::uint64_t cell = 0;  ///< The cell that it ran; the same number for the same cell.
  std::optional<CollectiveCall> waits_in;  ///< Whose roll call it has come to.
  /// By communicator, all that it knows: the collective calls that began.
  std::map<std::uint64_t, std::uint64_t> entered;
  /// Of NoteKind::stopped: it waited for a rank that has failed or left; `reason` is then that of
  /// why_incomplete() or why_in_vain(), a sentence that names that rank.
  bool is_consequence = false;
  /// Of NoteKind::waiting: the ranks that can end its wait, any of them or, with needs_all, all of
  /// them. In a roll call, which is `waits_in`, those that have come to it do not count.
  std::vector<int> waits_for{};
  bool needs_all = false;
  std::string reason{};  ///< For the user: "raised ValueError: x", "was interrupted".
};

/// The note as bytes, for ranks that may be of another architecture or MPI; and back.
std::string to_bytes(const RankNote& note);
/// Nothing where the bytes are no note.
std::optional<RankNote> note_from(std::string_view bytes);

/// What the ranks have told one another since they last were all in step, and what follows from it
/// for a rank that waits in a call. Sees no MPI and no clock.
/// (docs/decisions/0009-interrupts-in-mpi.md)
class RankBoard {
 public:
  /// now  when it came.
  void hear(RankNote note, Instant now);
  /// This rank has gone on to the epoch: what was of earlier ones is forgotten.
  void begin_epoch(std::uint64_t epoch);
  /// The highest epoch that somebody has gone on to; the own one if nobody is ahead.
  std::uint64_t latest_epoch() const;

  /// Why the rank will not come to this call of a cell; nothing where it may come, or has come.
  std::optional<std::string> why_missing(Rank rank, const CollectiveCall& call,
                                         std::uint64_t cell) const;
  /// Whether it has come to the call's roll call, though it may have left that.
  bool has_reached(Rank rank, const CollectiveCall& call) const;
  /// Why nothing is to be expected of the rank any more in this cell, although it waits.
  /// before  what was told later than that does not count yet.
  std::optional<std::string> why_lost(Rank rank, std::uint64_t cell, Instant before) const;
  /// Whether the rank has left this epoch.
  bool has_stopped(Rank rank) const;
  /// Whether it was interrupted in the roll call, and has not said yet what it does.
  bool is_leaving(Rank rank, const CollectiveCall& call) const;

  // Of several ranks, the others of a communicator: what a rank that waits in a cell is to know.

  /// Those that have said, or shown, that they do not come to the call.
  std::vector<Rank> missing(const std::vector<Rank>& others, const CollectiveCall& call,
                            std::uint64_t cell) const;
  /// Those that have told nothing of the cell.
  std::vector<Rank> silent(const std::vector<Rank>& others, std::uint64_t cell) const;
  /// Whether one is_leaving() the call.
  bool is_one_leaving(const std::vector<Rank>& others, const CollectiveCall& call) const;
  /// Whether one has left the epoch before it could take part in the call.
  bool has_one_stopped(const std::vector<Rank>& others, const CollectiveCall& call,
                       std::uint64_t cell) const;
  /// Why the call cannot begin on all of them: names those that have not come for reasons of their
  /// own, if it is known. Nothing while it can.
  /// before  what was told later than that does not count yet.
  std::optional<std::string> why_incomplete(const std::vector<Rank>& others,
                                            const CollectiveCall& call, std::uint64_t cell,
                                            Instant before) const;
  /// Why one waits for them in vain, for all of them or else for any. Nothing while one may not.
  std::optional<std::string> why_in_vain(const std::vector<Rank>& others, bool needs_all,
                                         std::uint64_t cell, Instant before) const;

  /// Why the wait that the note tells of is in vain, although not all ranks that could end it are
  /// lost: those that are not have ended their cells, or wait themselves, in the end for a rank
  /// that is lost. Nothing where none is, or while a rank may get on. own     of NoteKind::waiting:
  /// what this rank would tell. before  what was told later than that does not count yet.
  std::optional<std::string> why_stuck(const RankNote& own, Instant before) const;
  /// Whether a rank has failed in this cell, or has left this epoch, before that.
  bool has_lost_one(std::uint64_t cell, Instant before) const;

  /// The ranks that were interrupted in roll calls and have not said yet what they do, and where;
  /// and those that wait.
  std::vector<std::pair<int, CollectiveCall>> asking() const;
  /// A cell begins: ranks that ran none, or have failed in an earlier one, may run it, too.
  void begin_cell(Instant now);
  /// Whether it has told anything of this cell, or has left the epoch.
  bool has_told(Rank rank, std::uint64_t cell) const;
  /// Whether the rank knew the communicator when it left the epoch; nothing while that is unknown.
  std::optional<bool> knew(Rank rank, std::uint64_t epoch, std::uint64_t communicator) const;
  /// Whether a rank has failed in the cell of that number.
  bool has_failure_in(std::uint64_t cell) const;
  bool is_empty() const { return told_.empty(); }

 private:
  struct Told {
    RankNote note;
    Instant since;
  };
  const Told* told(Rank rank) const;
  std::string explain(const std::vector<Rank>& lost, const std::string& reason) const;
  /// Of `own` and the ranks that wait in its cell: those that nothing can end.
  std::map<int, const RankNote*> stuck_with(const RankNote& own, Instant before) const;
  bool is_blocked(int rank, const RankNote& waiting, const std::map<int, const RankNote*>& stuck,
                  Instant before) const;

  std::uint64_t epoch_ = 0;
  std::map<int, Told> told_;                      // of this epoch, by rank
  std::map<int, RankNote> waiting_;               // of NoteKind::waiting, by rank
  std::multimap<std::uint64_t, RankNote> later_;  // of epochs to come
  std::map<int, std::uint64_t> goes_on_in_;       // by rank
  // By epoch and rank: the communicators that it knew when it left.
  std::map<std::uint64_t, std::map<int, std::set<std::uint64_t>>> known_;
};

}  // namespace px::engine
