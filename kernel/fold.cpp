#include <px/kernel/fold.hpp>

#include <set>
#include <utility>

namespace px::kernel {

void Folder::add(std::size_t rank, Said said) {
  Entry entry{std::move(said), next_order_++, 0};
  bytes_ += entry.said.text.size() + sizeof(Entry);
  ++waiting_;
  if (is_folding_ && entry.said.kind != Said::Kind::item && !entry.said.is_continued) {
    const std::string key =
        static_cast<char>('0' + static_cast<int>(entry.said.kind)) + entry.said.text;
    const auto [found, is_new] = numbers_.try_emplace(key, next_phrase_);
    if (is_new) ++next_phrase_;
    entry.phrase = found->second;
    ++phrases_[entry.phrase].counts[rank];
  }
  if (queues_[rank].empty()) heads_.emplace(entry.order, rank);
  queues_[rank].push_back(std::move(entry));
}

std::vector<Saying> Folder::take() {
  std::vector<Saying> all;
  while (waiting_ > 0) all.push_back(pop(choose(heads_.begin()->second)));
  numbers_.clear();
  phrases_.clear();
  bytes_ = 0;
  return all;
}

/// The rank whose first entry is to come next: not one that another rank will say too, before it
/// can. Where they wait for each other, the one that came first.
std::size_t Folder::choose(std::size_t rank) const {
  if (!is_folding_) return rank;
  std::set<std::size_t> seen;
  for (std::size_t at = rank; seen.insert(at).second;) {
    const std::uint64_t phrase = queues_[at].front().phrase;
    if (phrase == 0) return at;
    std::size_t behind = at;
    for (const auto& [other, count] : phrases_.at(phrase).counts) {
      if (queues_[other].front().phrase == phrase) continue;
      behind = other;
      break;
    }
    if (behind == at) return at;
    at = behind;
  }
  return rank;
}

Saying Folder::pop(std::size_t rank) {
  const std::uint64_t phrase = queues_[rank].front().phrase;
  Saying saying;
  if (phrase == 0) {
    saying.ranks = {rank};
  } else {
    for (const auto& [other, count] : phrases_.at(phrase).counts)
      if (queues_[other].front().phrase == phrase) saying.ranks.push_back(other);
  }
  for (const std::size_t each : saying.ranks) {
    std::deque<Entry>& queue = queues_[each];
    heads_.erase(queue.front().order);
    if (phrase != 0) {
      auto& counts = phrases_.at(phrase).counts;
      if (--counts.at(each) == 0) counts.erase(each);
    }
    if (each == saying.ranks.front()) saying.said = std::move(queue.front().said);
    queue.pop_front();
    --waiting_;
    if (!queue.empty()) heads_.emplace(queue.front().order, each);
  }
  return saying;
}

}  // namespace px::kernel
