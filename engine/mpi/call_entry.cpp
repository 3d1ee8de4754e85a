#include "engine/mpi/call_entry.hpp"

#include <chrono>

#include "wire/rank_names.hpp"

namespace px::engine {
namespace {

/// How long a rank that was interrupted asks: in that time those that have come to the call say so,
/// or begin with it.
constexpr Duration asking_time = std::chrono::milliseconds(250);

}  // namespace

CallEntry::Step CallEntry::next(const Look& look) {
  // Others may have begun with the call, or one of them may have asked: that comes soon.
  if (look.have_all_come && !look.has_heard_all) return Step::wait;
  if (phase_ == EntryPhase::asks) return answer(look);
  const bool has_one_stopped = board_.has_one_stopped(others_, call_, cell_);
  if (look.have_all_come && !has_one_stopped && !board_.is_one_leaving(others_, call_))
    return Step::enter;
  if (look.is_interrupted) is_interrupted_ = true;
  if (phase_ == EntryPhase::stays) return has_one_stopped ? give_up(true) : Step::wait;
  if (is_interrupted_) return ask(look.now + asking_time);
  if (look.have_all_come) return has_one_stopped ? give_up(true) : Step::wait;
  const auto why = board_.why_incomplete(others_, call_, cell_, look.now - grace_);
  if (!why) return Step::wait;
  why_ = *why;
  return ask(look.now);
}

CallEntry::Step CallEntry::ask(Instant until) {
  phase_ = EntryPhase::asks;
  until_ = until;
  return Step::ask;
}

CallEntry::Step CallEntry::answer(const Look& look) {
  if (look.is_interrupted) is_interrupted_ = true;
  if (look.have_all_come) {
    if (board_.has_one_stopped(others_, call_, cell_)) return give_up(true);
    phase_ = EntryPhase::stays;
    return Step::stay;
  }
  // Who has not come yet finds the question when it comes.
  const bool has_one_said_no = !board_.missing(others_, call_, cell_).empty();
  const bool is_over = look.now >= until_;
  if (is_over || (has_one_said_no && board_.silent(others_, cell_).empty())) return give_up(false);
  return Step::wait;
}

CallEntry::Step CallEntry::give_up(bool have_all_come) {
  if (!is_interrupted_) {
    if (const auto why = board_.why_incomplete(others_, call_, cell_, Instant::max())) why_ = *why;
    return Step::fail;
  }
  std::vector<Rank> never_came;
  for (const Rank rank : board_.missing(others_, call_, cell_))
    if (!board_.has_reached(rank, call_)) never_came.push_back(rank);
  if (!never_came.empty()) where_ = ", which " + name_ranks(never_came) + " had not reached";
  if (have_all_come) return Step::leave;
  const std::vector<Rank> no_answer = board_.silent(others_, cell_);
  if (!no_answer.empty()) where_ += "; " + name_ranks(no_answer) + " did not answer";
  return Step::leave;
}

}  // namespace px::engine
