#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "wire/ids.hpp"

namespace px::engine {

/// come   a member has come to the meeting, to its first member.
/// leave  it goes away again, because its cell was stopped or because it waited in vain.
/// ready  the first member asks each one that has come: does it take part now?
/// yes    it does, and stays until it hears `go` or `wait`.
/// wait   not all of them do, so that it may go away again; it has still come.
/// go     all take part.
enum class MeetingWord : std::uint32_t { come, leave, ready, yes, wait, go };

/// What ranks tell one another of a meeting. A plain value, sent as its bytes between ranks of one
/// build.
struct MeetingNote {
  MeetingWord word = MeetingWord::come;
  std::uint32_t round = 0;    ///< Of ready, yes, wait and go: how often was asked before.
  std::uint64_t meeting = 0;  ///< The same number on all members; another one for other members.
  std::uint64_t attempt = 0;  ///< Of the member that comes or has come: never used twice by it.
  auto operator<=>(const MeetingNote&) const = default;
};

/// Lets some ranks of a world begin something together that cannot be left once it has begun, such
/// as MPI_Comm_create_group: either all members take part or none, although each may be stopped at
/// any moment. There is no communicator yet on which they could hold a roll call.
///
/// The first member asks the others when all have come. A member that has answered `yes` is
/// *bound*: it must not leave until it has heard whether all have. So a rank is bound only while
/// the first member, which is in the meeting and can be stopped itself, waits for the other
/// answers. A rank is in one meeting at a time; notes of other meetings are kept for later.
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

  explicit Meetings(Rank own) : own_(own) {}

  /// This rank comes to a meeting and is in no other one. What is returned is to be sent; so it is
  /// of the functions below.
  /// members  at least two, this rank among them; in the same order on all of them.
  Letters come(std::uint64_t meeting, const std::vector<Rank>& members);
  /// A note has come, also while this rank is in no meeting.
  Letters hear(Rank from, const MeetingNote& note);
  /// This rank leaves the meeting. Precondition: it is in one and not bound, and they have not met.
  Letters leave();

  /// All take part: this rank is in no meeting any more. Until it comes to the next one.
  bool have_met() const { return have_met_; }
  /// Whether it must not leave().
  bool is_bound() const { return current_ && current_->bound_in.has_value(); }

 private:
  struct Current {
    std::uint64_t meeting = 0;
    Rank first;
    std::vector<Rank> others;
    bool is_first = false;
    std::uint64_t attempt = 0;
    std::optional<std::uint32_t> bound_in;  // the round; never of the first member
    bool has_asked = false;                 // these are of the first member
    std::set<Rank> agreed;
  };
  using Arrivals = std::map<Rank, std::uint64_t>;  // the attempts of those that have come

  /// Of the first member: asks if all have come.
  Letters ask();
  Letters hear_as_first(Rank from, const MeetingNote& note);
  Letters hear_as_member(Rank from, const MeetingNote& note);
  /// A note to each other member.
  Letters to_others(MeetingWord word) const;

  const Rank own_;
  std::uint64_t last_attempt_ = 0;
  std::uint32_t last_round_ = 0;
  std::optional<Current> current_;
  bool have_met_ = false;
  std::map<std::uint64_t, Arrivals> arrivals_;  // by meeting, whose first member is this rank
};

}  // namespace px::engine
