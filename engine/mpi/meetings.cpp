#include "engine/mpi/meetings.hpp"

#include <algorithm>

namespace px::engine {
namespace {

constexpr unsigned most_skips = 16;

}  // namespace

Meetings::Letters Meetings::come(std::uint64_t meeting, const std::vector<Rank>& members) {
  met_.erase(meeting);
  Current& current = current_[meeting] = {};
  current.first = members.front();
  current.attempt = ++last_attempt_;
  for (const Rank member : members)
    if (member != own_) current.others.push_back(member);
  if (current.first == own_) return ask(meeting);
  return {{current.first, {MeetingWord::come, 0, meeting, current.attempt}}};
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
  const auto found = current_.find(note.meeting);
  if (found == current_.end()) return {};
  return found->second.first == own_ ? hear_as_first(from, note) : hear_as_member(from, note);
}

Meetings::Letters Meetings::hear_as_first(Rank from, const MeetingNote& note) {
  Current& current = current_[note.meeting];
  if (note.word == MeetingWord::come) return ask(note.meeting);
  if (asks_for_ != note.meeting) return {};
  const bool is_answer = note.round == current.round;
  if (note.word == MeetingWord::leave || (note.word == MeetingWord::no && is_answer)) {
    asks_for_.reset();
    if (note.word == MeetingWord::no) put_off(current);
    return to_others(MeetingWord::wait, note.meeting);
  }
  if (note.word != MeetingWord::yes || !is_answer) return {};
  current.agreed.insert(from);
  if (current.agreed.size() < current.others.size()) return {};
  Letters letters = to_others(MeetingWord::go, note.meeting);
  arrivals_.erase(note.meeting);
  asks_for_.reset();
  met(note.meeting);
  return letters;
}

Meetings::Letters Meetings::hear_as_member(Rank from, const MeetingNote& note) {
  Current& current = current_[note.meeting];
  if (note.attempt != current.attempt) return {};
  if (note.word == MeetingWord::ready) {
    const bool is_free = !asks_for_ && (!bound_to_ || bound_to_ == note.meeting);
    if (is_free) {
      bound_to_ = note.meeting;
      current.round = note.round;
    }
    return {
        {from,
         {is_free ? MeetingWord::yes : MeetingWord::no, note.round, note.meeting, note.attempt}}};
  }
  if (bound_to_ != note.meeting || current.round != note.round) return {};
  if (note.word == MeetingWord::wait) {
    bound_to_.reset();
  } else if (note.word == MeetingWord::go) {
    bound_to_.reset();
    met(note.meeting);
  }
  return {};
}

void Meetings::met(std::uint64_t meeting) {
  current_.erase(meeting);
  met_.insert(meeting);
}

Meetings::Letters Meetings::ask(std::uint64_t meeting) {
  Current& current = current_[meeting];
  if (asks_for_ == meeting) return {};
  const auto found = arrivals_.find(meeting);
  const bool have_all_come =
      found != arrivals_.end() &&
      std::all_of(current.others.begin(), current.others.end(),
                  [&](const Rank other) { return found->second.contains(other); });
  if (!have_all_come) return {};
  if (bound_to_ || asks_for_) {
    put_off(current);
    return {};
  }
  asks_for_ = meeting;
  current.is_refused = false;
  current.agreed.clear();
  current.round = ++last_round_;
  return to_others(MeetingWord::ready, meeting);
}

void Meetings::put_off(Current& current) {
  current.is_refused = true;
  current.skips = static_cast<unsigned>(random_()) % most_skips;
}

Meetings::Letters Meetings::ask_again() {
  for (auto& [meeting, current] : current_) {
    if (!current.is_refused) continue;
    if (current.skips > 0) {
      --current.skips;
      continue;
    }
    current.is_refused = false;
    if (Letters letters = ask(meeting); !letters.empty()) return letters;
  }
  return {};
}

Meetings::Letters Meetings::to_others(MeetingWord word, std::uint64_t meeting) const {
  Letters letters;
  const auto found = arrivals_.find(meeting);
  if (found == arrivals_.end()) return letters;
  const Current& current = current_.at(meeting);
  for (const Rank other : current.others)
    if (const auto arrival = found->second.find(other); arrival != found->second.end())
      letters.push_back({other, {word, current.round, meeting, arrival->second}});
  return letters;
}

Meetings::Letters Meetings::leave(std::uint64_t meeting) {
  Letters letters;
  const Current& current = current_.at(meeting);
  if (current.first != own_) {
    letters.push_back({current.first, {MeetingWord::leave, 0, meeting, current.attempt}});
  } else if (asks_for_ == meeting) {
    letters = to_others(MeetingWord::wait, meeting);
    asks_for_.reset();
  }
  current_.erase(meeting);
  return letters;
}

}  // namespace px::engine
