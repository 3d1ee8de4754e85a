#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "wire/ids.hpp"

namespace px::engine {

/// come   a member has come to the meeting, to its first member.
/// leave  it goes away again, because its cell was stopped or because it waited in vain.
/// ready  the first member asks each one that has come: does it take part now?
/// yes    it does, and stays until it hears `go` or `wait`.
/// no     it is about to take part in another meeting, and has still come to this one.
/// wait   not all of them do, so that it may go away again; it has still come.
/// go     all take part.
enum class MeetingWord : std::uint32_t { come, leave, ready, yes, no, wait, go };

/// What ranks tell one another of a meeting. A plain value, sent as its bytes between ranks of one
/// build.
struct MeetingNote {
  MeetingWord word = MeetingWord::come;
  std::uint32_t round = 0;    ///< Of ready, yes, no, wait and go: how often was asked before.
  std::uint64_t meeting = 0;  ///< The same number on all members; another one for other members.
  std::uint64_t attempt = 0;  ///< Of the member that comes or has come: never used twice by it.
  auto operator<=>(const MeetingNote&) const = default;
};

/// Lets some ranks of a world begin something together that cannot be left once it has begun, such
/// as MPI_Comm_create_group: either all members take part or none, although each may be stopped at
/// any moment. There is no communicator yet on which they could hold a roll call.
///
/// A rank may be in several meetings, but it takes part in one at a time. The first member asks the
/// others when all have come. A member that has answered `yes` is *bound*: it must not leave until
/// it has heard whether all have. A member that is bound elsewhere, or has itself asked for another
/// meeting, answers `no`; then the first member asks again later. So a rank is bound only while the
/// first member, which is in the meeting and can be stopped itself, waits for the other answers.
///
/// Notes from one rank to another must arrive in order. Sees no MPI and no clock.
class Meetings {
 public:
  struct Letter {
    Rank to;
    MeetingNote note;
    auto operator<=>(const Letter&) const = default;
  };
  using Letters = std::vector<Letter>;

  explicit Meetings(Rank own) : own_(own), random_(static_cast<unsigned>(own.value) + 1) {}

  /// This rank comes to a meeting, and is not in it yet. What is returned is to be sent; so it is
  /// of the functions below.
  /// members  at least two, this rank among them; in the same order on all of them.
  Letters come(std::uint64_t meeting, const std::vector<Rank>& members);
  /// A note has come, also while this rank is in no meeting.
  Letters hear(Rank from, const MeetingNote& note);
  /// This rank leaves the meeting. Precondition: it is in it and not bound to it.
  Letters leave(std::uint64_t meeting);
  /// Asks again in meetings in which a member has answered `no`. Call it repeatedly: it asks after
  /// a random number of calls, so that two first members do not refuse one another for ever.
  Letters ask_again();

  bool is_in(std::uint64_t meeting) const { return current_.contains(meeting); }
  /// All take part: this rank is not in the meeting any more. Until it comes to that one again.
  bool have_met(std::uint64_t meeting) const { return met_.contains(meeting); }
  /// Forgets that they have met.
  void forget(std::uint64_t meeting) { met_.erase(meeting); }
  /// Whether it must not leave() the meeting.
  bool is_bound(std::uint64_t meeting) const { return bound_to_ == meeting; }

 private:
  struct Current {
    Rank first;
    std::vector<Rank> others;
    std::uint64_t attempt = 0;
    std::uint32_t round = 0;  // in which this rank is bound, or was asked by this rank
    bool is_refused = false;  // these are of the first member
    unsigned skips = 0;       // calls of ask_again()
    std::set<Rank> agreed;
  };
  using Arrivals = std::map<Rank, std::uint64_t>;  // the attempts of those that have come

  /// Of the first member: asks if all have come.
  Letters ask(std::uint64_t meeting);
  Letters hear_as_first(Rank from, const MeetingNote& note);
  Letters hear_as_member(Rank from, const MeetingNote& note);
  /// Of the first member: asks again later.
  void put_off(Current& current);
  void met(std::uint64_t meeting);
  /// A note to each other member.
  Letters to_others(MeetingWord word, std::uint64_t meeting) const;

  const Rank own_;
  std::minstd_rand random_;
  std::uint64_t last_attempt_ = 0;
  std::uint32_t last_round_ = 0;
  std::map<std::uint64_t, Current> current_;    // by meeting
  std::optional<std::uint64_t> bound_to_;       // a meeting; never as its first member
  std::optional<std::uint64_t> asks_for_;       // a meeting, as its first member
  std::set<std::uint64_t> met_;                 // meetings
  std::map<std::uint64_t, Arrivals> arrivals_;  // by meeting, whose first member is this rank
};

}  // namespace px::engine
