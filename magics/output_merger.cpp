#include "magics/output_merger.hpp"

#include <algorithm>

namespace px::magics {

void OutputMerger::Phrase::add(std::size_t rank) {
  const auto at = std::lower_bound(counts.begin(), counts.end(), std::pair{rank, std::size_t{0}});
  if (at != counts.end() && at->first == rank)
    ++at->second;
  else
    counts.insert(at, {rank, 1});
}

void OutputMerger::Phrase::remove(std::size_t rank) {
  const auto at = std::lower_bound(counts.begin(), counts.end(), std::pair{rank, std::size_t{0}});
  if (--at->second == 0) counts.erase(at);
}

bool OutputMerger::can_fold(const OutputPart& output) const {
  return is_folding_ && output.kind != PartKind::item && !output.is_continued;
}

void OutputMerger::add(std::size_t rank, OutputPart output) {
  QueuedPart entry{std::move(output), nullptr};
  bytes_ += entry.output.text.size() + sizeof(QueuedPart);
  ++waiting_;
  if (can_fold(entry.output)) {
    entry.phrase = &phrases_[static_cast<std::size_t>(entry.output.kind)][entry.output.text];
    entry.phrase->add(rank);
  }
  heads_.insert(rank);
  queues_[rank].push_back(std::move(entry));
}

void OutputMerger::drop(std::size_t rank) {
  while (!queues_[rank].empty()) bytes_ -= take_front(rank).text.size() + sizeof(QueuedPart);
}

std::vector<MergedPart> OutputMerger::take() {
  std::vector<MergedPart> all;
  while (waiting_ > 0) all.push_back(pop(choose(*heads_.begin())));
  for (Phrases& phrases : phrases_) phrases.clear();
  bytes_ = 0;
  return all;
}

bool OutputMerger::comes_next(std::size_t rank, const Phrase* phrase) const {
  return queues_[rank].front().phrase == phrase;
}

/// The rank whose first entry is to come next: not one that another rank will say too, before it
/// can. Where they wait for each other, the one that was asked for.
std::size_t OutputMerger::choose(std::size_t rank) const {
  std::set<std::size_t> seen;
  for (std::size_t at = rank;;) {
    const Phrase* const phrase = queues_[at].front().phrase;
    if (!phrase || phrase->counts.size() == 1) return at;
    const auto behind =
        std::find_if(phrase->counts.begin(), phrase->counts.end(),
                     [&](const auto& count) { return !comes_next(count.first, phrase); });
    if (behind == phrase->counts.end()) return at;
    if (!seen.insert(at).second) return rank;
    at = behind->first;
  }
}

MergedPart OutputMerger::pop(std::size_t rank) {
  const Phrase* const phrase = queues_[rank].front().phrase;
  MergedPart part;
  if (!phrase || phrase->counts.size() == 1) {
    part.ranks = {rank};
  } else {
    for (const auto& [other, count] : phrase->counts)
      if (comes_next(other, phrase)) part.ranks.push_back(other);
  }
  // From the back, so that it is the first rank's in the end: failures are equal but for details.
  for (auto each = part.ranks.rbegin(); each != part.ranks.rend(); ++each) {
    part.output = take_front(*each);
    part.items.push_back(part.output.item);
  }
  std::reverse(part.items.begin(), part.items.end());
  return part;
}

OutputPart OutputMerger::take_front(std::size_t rank) {
  std::deque<QueuedPart>& queue = queues_[rank];
  QueuedPart entry = std::move(queue.front());
  queue.pop_front();
  --waiting_;
  if (entry.phrase) entry.phrase->remove(rank);
  if (queue.empty()) heads_.erase(rank);
  return std::move(entry.output);
}

}  // namespace px::magics
