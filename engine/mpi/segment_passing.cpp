#include "engine/mpi/segment_passing.hpp"

#include <algorithm>
#include <utility>

namespace px::engine {
namespace {

/// Every MPI has as many tags; 0 is that of questions.
constexpr int most_tags = 30000;

}  // namespace

// ---------------------------------------------------------------- of the rank that gives

void SegmentPassing::give(const std::string& segment, std::uint64_t size, std::uint64_t takers) {
  Given& given = given_[segment];
  given.size = size;
  given.takers = takers;
}

SegmentPassing::Effects SegmentPassing::filled(const std::string& segment, std::uint64_t bytes) {
  Effects effects;
  const auto found = given_.find(segment);
  if (found == given_.end()) return effects;
  found->second.filled = std::max(found->second.filled, bytes);
  answer_waiting(segment, effects);
  return effects;
}

/// Each taker asks for the bytes in their order, so that it asks for the last ones last.
void SegmentPassing::answer_waiting(const std::string& segment, Effects& effects) {
  std::deque<WaitingPart> left;
  for (WaitingPart& each : std::exchange(waiting_, {})) {
    const auto found = given_.find(segment);
    const bool can_answer = each.part.segment == segment && found != given_.end() &&
                            each.part.offset + each.part.length <= found->second.filled;
    if (can_answer)
      answer(each.part, effects);
    else
      left.push_back(std::move(each));
  }
  waiting_ = std::move(left);
}

void SegmentPassing::answer(const SegmentPart& part, Effects& effects) {
  effects.push_back(SendPart{part});
  Given& given = given_.at(part.segment);
  if (part.offset + part.length == given.size && ++given.ended == given.takers)
    given_.erase(part.segment);
}

SegmentPassing::Effects SegmentPassing::withdraw(const std::string& segment) {
  Effects effects;
  given_.erase(segment);
  std::erase_if(waiting_, [&](const WaitingPart& each) {
    const bool is_of_it = each.part.segment == segment;
    if (is_of_it) effects.push_back(Refuse{each.part});
    return is_of_it;
  });
  return effects;
}

SegmentPassing::Effects SegmentPassing::asked(SegmentPart part, Instant now) {
  Effects effects;
  const auto found = given_.find(part.segment);
  const std::uint64_t size = found == given_.end() ? ~std::uint64_t{0} : found->second.size;
  const bool is_possible = part.length > 0 && part.length <= os::passed_piece &&
                           part.offset <= size && part.length <= size - part.offset;
  if (!is_possible)
    effects.push_back(Refuse{std::move(part)});
  else if (found == given_.end() || part.offset + part.length > found->second.filled)
    waiting_.push_back({std::move(part), now});
  else
    answer(part, effects);
  return effects;
}

// ---------------------------------------------------------------- of the rank that takes

SegmentPassing::Effects SegmentPassing::take(const std::string& segment, int rank,
                                             const std::string& given, std::uint64_t size) {
  Effects effects;
  const auto [place, is_new] = taken_.try_emplace(segment);
  if (!is_new) return effects;
  Taken& taken = place->second;
  taken.rank = rank;
  taken.given = given;
  taken.size = size;
  ask_more(taken, effects);
  return effects;
}

int SegmentPassing::unused_tag() {
  const auto is_used = [this](int tag) {
    return std::any_of(taken_.begin(), taken_.end(), [tag](const auto& entry) {
      const std::deque<int>& tags = entry.second.tags;
      return std::find(tags.begin(), tags.end(), tag) != tags.end();
    });
  };
  do {
    last_tag_ = last_tag_ % most_tags + 1;
  } while (is_used(last_tag_));
  return last_tag_;
}

void SegmentPassing::ask_more(Taken& taken, Effects& effects) {
  while (taken.asked < taken.size &&
         taken.received + taken.tags.size() < taken.used + SegmentPassing::window) {
    const std::uint64_t length = std::min(os::passed_piece, taken.size - taken.asked);
    const int tag = unused_tag();
    effects.push_back(Ask{{taken.rank, tag, taken.given, taken.asked, length}});
    taken.tags.push_back(tag);
    taken.asked += length;
  }
}

SegmentPassing::Effects SegmentPassing::used(const std::string& segment) {
  Effects effects;
  const auto found = taken_.find(segment);
  if (found == taken_.end()) return effects;
  ++found->second.used;
  ask_more(found->second, effects);
  return effects;
}

/// The answers that are on their way are still to be received. The name may be taken again.
void SegmentPassing::drop(const std::string& segment) {
  auto node = taken_.extract(segment);
  if (node.empty() || node.mapped().tags.empty()) return;
  node.key() = segment + " " + std::to_string(++dropped_);
  node.mapped().is_dropped = true;
  taken_.insert(std::move(node));
}

std::vector<int> SegmentPassing::awaited() const {
  std::vector<int> tags;
  for (const auto& [segment, taken] : taken_)
    if (!taken.tags.empty()) tags.push_back(taken.tags.front());
  return tags;
}

SegmentPassing::Effects SegmentPassing::received(int tag, std::uint64_t bytes) {
  Effects effects;
  const auto found = std::find_if(taken_.begin(), taken_.end(), [tag](const auto& entry) {
    return !entry.second.tags.empty() && entry.second.tags.front() == tag;
  });
  if (found == taken_.end()) return effects;
  auto& [segment, taken] = *found;
  taken.tags.pop_front();
  const std::uint64_t offset = taken.received * os::passed_piece;
  if (!taken.is_dropped && bytes == std::min(os::passed_piece, taken.size - offset)) {
    effects.push_back(Deliver{tag, segment, taken.received++, offset});
    if (offset + bytes == taken.size) taken_.erase(found);
    return effects;
  }
  if (!taken.is_dropped) {
    effects.push_back(Lose{segment, "the rank that has it does not pass it on"});
    drop(std::string(segment));
    return effects;
  }
  if (taken.tags.empty()) taken_.erase(found);
  return effects;
}

// ---------------------------------------------------------------- of both

SegmentPassing::Effects SegmentPassing::on_time(Instant now) {
  Effects effects;
  std::erase_if(waiting_, [&](const WaitingPart& each) {
    const bool is_unknown =
        !given_.contains(each.part.segment) && now - each.since >= longest_wait;
    if (is_unknown) effects.push_back(Refuse{each.part});
    return is_unknown;
  });
  return effects;
}

SegmentPassing::Effects SegmentPassing::lose_all(const std::string& why) {
  Effects effects;
  for (const auto& [segment, taken] : taken_)
    if (!taken.is_dropped) effects.push_back(Lose{segment, why});
  given_.clear();
  waiting_.clear();
  taken_.clear();
  return effects;
}

}  // namespace px::engine
