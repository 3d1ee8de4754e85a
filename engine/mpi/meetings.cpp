#include "engine/mpi/meetings.hpp"

#include <algorithm>

namespace px::engine {

Meetings::Letters Meetings::come(std::uint64_t meeting, const std::vector<Rank>& members) {
  have_met_ = false;
  Current& current = current_.emplace();
  current.meeting = meeting;
  current.first = members.front();
  current.is_first = current.first == own_;
  current.attempt = ++last_attempt_;
  for (const Rank member : members)
    if (member != own_) current.others.push_back(member);
  if (current.is_first) return ask();
  return {{members.front(), {MeetingWord::come, 0, meeting, current.attempt}}};
}

Meetings::Letters Meetings::hear(Rank from, const MeetingNote& note) {
  if (note.word == MeetingWord::come) {
    arrivals_[note.meeting][from] = note.attempt;
  } else if (note.word == MeetingWord::leave) {
    const auto found = arrivals_.find(note.meeting);
    if (found == arrivals_.end()) return {};
    Arrivals& arrivals = found->second;
    const auto arrival = arrivals.find(from);
    if (arrival == arrivals.end() || arrival->second != note.attempt) return {};
    arrivals.erase(arrival);
    if (arrivals.empty()) arrivals_.erase(found);
  }
  if (!current_ || current_->meeting != note.meeting) return {};
  return current_->is_first ? hear_as_first(from, note) : hear_as_member(from, note);
}

Meetings::Letters Meetings::hear_as_first(Rank from, const MeetingNote& note) {
  Current& current = *current_;
  if (note.word == MeetingWord::come) return ask();
  if (!current.has_asked) return {};
  if (note.word == MeetingWord::leave) {
    current.has_asked = false;
    return to_others(MeetingWord::wait);
  }
  if (note.word != MeetingWord::yes || note.round != last_round_) return {};
  current.agreed.insert(from);
  if (current.agreed.size() < current.others.size()) return {};
  Letters letters = to_others(MeetingWord::go);
  arrivals_.erase(current.meeting);
  current_.reset();
  have_met_ = true;
  return letters;
}

Meetings::Letters Meetings::hear_as_member(Rank from, const MeetingNote& note) {
  Current& current = *current_;
  if (note.attempt != current.attempt) return {};
  if (note.word == MeetingWord::ready) {
    current.bound_in = note.round;
    return {{from, {MeetingWord::yes, note.round, note.meeting, note.attempt}}};
  }
  if (current.bound_in != note.round) return {};
  if (note.word == MeetingWord::wait) {
    current.bound_in.reset();
  } else if (note.word == MeetingWord::go) {
    current_.reset();
    have_met_ = true;
  }
  return {};
}

Meetings::Letters Meetings::ask() {
  Current& current = *current_;
  if (current.has_asked) return {};
  const auto found = arrivals_.find(current.meeting);
  const bool have_all_come =
      found != arrivals_.end() &&
      std::all_of(current.others.begin(), current.others.end(),
                  [&](const Rank other) { return found->second.contains(other); });
  if (!have_all_come) return {};
  current.has_asked = true;
  current.agreed.clear();
  ++last_round_;
  return to_others(MeetingWord::ready);
}

Meetings::Letters Meetings::to_others(MeetingWord word) const {
  Letters letters;
  const auto found = arrivals_.find(current_->meeting);
  if (found == arrivals_.end()) return letters;
  for (const Rank other : current_->others)
    if (const auto arrival = found->second.find(other); arrival != found->second.end())
      letters.push_back({other, {word, last_round_, current_->meeting, arrival->second}});
  return letters;
}

Meetings::Letters Meetings::leave() {
  Letters letters;
  if (!current_->is_first)
    letters.push_back(
        {current_->first, {MeetingWord::leave, 0, current_->meeting, current_->attempt}});
  else if (current_->has_asked)
    letters = to_others(MeetingWord::wait);
  current_.reset();
  return letters;
}

}  // namespace px::engine
