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
  std::uint64_t place = 0;  ///< 1: the first one.

  auto operator<=>(const CollectiveCall&) const = default;
};

/// leaving  the rank was interrupted in a roll call, and asks whether all have come.
/// stays    it takes back its earlier note: all had reached the call that it wanted to leave, or
///          it begins another cell than the one that failed.
/// idle     the answer to a rank that asks or waits: it runs no cell, so it reaches no call for
///          now, and sends nothing.
/// waiting  it has waited for long, although a rank has failed: see waits_for.
/// failed   its cell ended with an error; it stays in the same epoch.
/// stopped  it does nothing any more in the epoch `epoch`, and goes on in the next one.
enum class NoteKind { leaving, stays, idle, waiting, failed, stopped };

/// The note of a rank to all others if it does not continue as they may expect.
struct RankNote {
  NoteKind kind = NoteKind::stopped;
  Rank rank;
  std::uint64_t epoch = 0;  ///< In the domain whose board hears it: one of `epochs`.
  std::uint64_t cell = 0;  ///< The cell that it ran; the same number for the same cell.
  std::optional<CollectiveCall> waits_in;  ///< The call whose roll call it has reached.
  /// The collective calls that began, by communicator, as far as the rank knows.
  std::map<std::uint64_t, std::uint64_t> entered;
  /// For NoteKind::stopped: whether it waited for a rank that has failed or left; in this case
  /// `reason` is the result of why_incomplete() or why_in_vain(), a sentence that names that rank.
  bool is_consequence = false;
  /// For NoteKind::waiting: the ranks that can end its wait, any of them or, with needs_all, all of
  /// them. In a roll call, which is `waits_in`, ranks that have reached it do not count.
  std::vector<int> waits_for{};
  bool needs_all = false;
  /// The domains that it is for, by number, and the rank's epochs in them.
  std::map<std::uint64_t, std::uint64_t> epochs{};
  /// For NoteKind::stopped in a domain that is not the world: the ranks of the domain, ascending.
  std::vector<int> members{};
  std::string reason{};  ///< For the user: "raised ValueError: x", "was interrupted".
};

/// The note as bytes, for ranks that may have another architecture or MPI.
std::string to_bytes(const RankNote& note);
/// The inverse of to_bytes(). Nothing if the bytes are not a note.
std::optional<RankNote> note_from(std::string_view bytes);

/// The notes that the ranks of a domain have exchanged since all were last in step, and their
/// consequences for a rank that waits in a call. Uses no MPI and no clock.
/// (docs/decisions/0009-interrupts-in-mpi.md)
class RankBoard {
 public:
  /// now  the time of its arrival.
  void hear(RankNote note, Instant now);
  /// This rank has gone on to the epoch: notes of earlier ones are forgotten.
  void begin_epoch(std::uint64_t epoch);
  /// The highest epoch to which a rank has gone on; this rank's own if no rank is ahead.
  std::uint64_t latest_epoch() const;

  /// Why the rank will not reach this call of a cell; nothing if it may, or has.
  std::optional<std::string> why_missing(Rank rank, const CollectiveCall& call,
                                         std::uint64_t cell) const;
  /// Whether it has reached the call's roll call, even if it may have left that.
  bool has_reached(Rank rank, const CollectiveCall& call) const;
  /// Why nothing can be expected of the rank any more in this cell, although it waits.
  /// before  later notes do not count yet.
  std::optional<std::string> why_lost(Rank rank, std::uint64_t cell, Instant before) const;
  /// Whether the rank has left this epoch.
  bool has_stopped(Rank rank) const;
  /// Whether it was interrupted in the roll call, and has not yet said what it does.
  bool is_leaving(Rank rank, const CollectiveCall& call) const;

  // For several ranks, the others of a communicator: information for a rank that waits in a cell.

  /// The ranks that have said, or shown, that they do not reach the call.
  std::vector<Rank> missing(const std::vector<Rank>& others, const CollectiveCall& call,
                            std::uint64_t cell) const;
  /// The ranks that have said nothing about the cell.
  std::vector<Rank> silent(const std::vector<Rank>& others, std::uint64_t cell) const;
  /// Whether is_leaving() is true for one of them.
  bool is_one_leaving(const std::vector<Rank>& others, const CollectiveCall& call) const;
  /// Whether one has left the epoch before it could take part in the call.
  bool has_one_stopped(const std::vector<Rank>& others, const CollectiveCall& call,
                       std::uint64_t cell) const;
  /// Why the call cannot begin on all of them: names the ranks that stay away for reasons of their
  /// own, if known. Nothing while it can begin.
  /// before  later notes do not count yet.
  std::optional<std::string> why_incomplete(const std::vector<Rank>& others,
                                            const CollectiveCall& call, std::uint64_t cell,
                                            Instant before) const;
  /// Why waiting for them is useless, for all of them or, otherwise, for any. Nothing while it may
  /// help.
  std::optional<std::string> why_in_vain(const std::vector<Rank>& others, bool needs_all,
                                         std::uint64_t cell, Instant before) const;

  /// Why the wait that the note describes is useless, although not all ranks that could end it are
  /// lost: the others have ended their cells, or wait themselves, directly or indirectly for a lost
  /// rank. Nothing if no rank is lost, or while one may continue.
  /// own     the note of NoteKind::waiting that this rank would send.
  /// before  later notes do not count yet.
  std::optional<std::string> why_stuck(const RankNote& own, Instant before) const;
  /// Whether a rank has failed in this cell, or has left this epoch, before that time.
  bool has_lost_one(std::uint64_t cell, Instant before) const;

  /// The ranks that were interrupted in roll calls and have not yet said what they do, and in which
  /// calls; and the ranks that wait.
  std::vector<std::pair<int, CollectiveCall>> asking() const;
  /// A cell begins: ranks that ran none, or have failed in an earlier one, may also run it.
  void begin_cell(Instant now);
  /// Whether it has said anything about this cell, or has left the epoch.
  bool has_told(Rank rank, std::uint64_t cell) const;
  /// Whether all of these ranks have gone on to the epoch, or to a later one.
  bool have_all_reached(const std::vector<Rank>& others, std::uint64_t epoch) const;
  /// Whether a rank knew any communicator of the domain when it left the epoch, as far as heard.
  bool has_one_known_any(std::uint64_t epoch) const;
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
  /// Why those of `ranks` that are lost are: the ranks that gave the first cause, and that cause.
  std::optional<std::string> why_all_lost(const std::vector<Rank>& ranks, std::uint64_t cell,
                                          Instant before) const;
  /// Those of `own` and the ranks that wait in its cell whose waits cannot end.
  std::map<int, const RankNote*> stuck_with(const RankNote& own, Instant before) const;
  bool is_blocked(int rank, const RankNote& waiting, const std::map<int, const RankNote*>& stuck,
                  Instant before) const;

  std::uint64_t epoch_ = 0;
  std::map<int, Told> told_;                      // of this epoch, by rank
  std::map<int, RankNote> waiting_;               // of NoteKind::waiting, by rank
  std::multimap<std::uint64_t, RankNote> later_;  // of later epochs
  std::map<int, std::uint64_t> goes_on_in_;       // by rank
  // The communicators that each rank knew when it left an epoch, by epoch and rank.
  std::map<std::uint64_t, std::map<int, std::set<std::uint64_t>>> known_;
};

}  // namespace px::engine
