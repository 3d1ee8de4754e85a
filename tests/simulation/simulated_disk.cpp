#include "tests/simulation/simulated_disk.hpp"

#include <algorithm>

namespace px::simulation {

using controller::SegmentNumber;

Result<std::vector<SegmentNumber>> SimulatedDisk::segments() {
  std::vector<SegmentNumber> numbers;
  for (const auto& [number, segment] : segments_) numbers.push_back(number);
  return numbers;
}

Result<std::string> SimulatedDisk::read(SegmentNumber segment) {
  const std::string& text = segments_.at(segment).text;
  if (!is_lost_) return text;
  std::string left{controller::journal_magic};
  controller::JournalReader reader{text};
  while (const auto record = reader.next())
    if (!is_lost_(*record)) left += reader.text();
  return left;
}

Result<void> SimulatedDisk::write(SegmentNumber segment, std::uint64_t offset,
                                  std::string_view text) {
  if (!dies_ && is_full_) return Error{ErrorKind::system, "No space left on device"};
  if (dies_) {
    const int most = static_cast<int>(text.size());
    text = text.substr(0, static_cast<std::size_t>(world_.pick(0, most)));
  }
  Segment& to = segments_[segment];
  check(offset <= to.text.size());
  // A controller that has not read what there is begins with the first segment again.
  to.text.replace(offset, text.size(), text);
  to.synced = std::min(to.synced, static_cast<std::size_t>(offset));
  if (dies_) throw Died{};
  return {};
}

Result<void> SimulatedDisk::sync() {
  if (is_broken_) return Error{ErrorKind::system, "Input/output error"};
  if (lies_) return {};
  for (auto& [number, segment] : segments_) segment.synced = segment.text.size();
  removed_.clear();
  return {};
}

Result<void> SimulatedDisk::remove(SegmentNumber segment) {
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return {};
  removed_.emplace_back(segment, std::move(found->second));
  segments_.erase(found);
  return {};
}

void SimulatedDisk::lose_power() {
  // The folder's changes reach the disk in their order: what was removed last comes back first.
  for (int back = world_.pick(0, static_cast<int>(removed_.size())); back > 0; --back) {
    segments_.insert(std::move(removed_.back()));
    removed_.pop_back();
  }
  removed_.clear();
  for (auto& [number, segment] : segments_) {
    const std::size_t unsure = segment.text.size() - segment.synced;
    const auto kept = static_cast<std::size_t>(world_.pick(0, static_cast<int>(unsure)));
    segment.text.resize(segment.synced + kept);
    if (kept < unsure && world_.pick(0, 2) == 0)
      segment.text.append(unsure - kept, world_.pick(0, 1) == 0 ? '\0' : '\x5a');
    segment.synced = segment.text.size();
  }
  std::erase_if(segments_, [](const auto& each) { return each.second.text.empty(); });
}

Result<void> SimulatedTexts::push(std::string_view text) {
  const bool is_refused = disk_ ? disk_->is_full() : world_.pick(0, 4) == 0;
  if (is_refused) return Error{ErrorKind::system, "No space left on device"};
  texts_.emplace_back(text);
  return {};
}

Result<std::string> SimulatedTexts::pop() {
  if (world_.pick(0, 19) == 0) return Error{ErrorKind::system, "Input/output error"};
  const auto next = is_last_first_ ? texts_.end() - 1 : texts_.begin();
  std::string text = std::move(*next);
  texts_.erase(next);
  return text;
}

void SimulatedSync::request(std::uint64_t number) {
  requested_ = number;
  begin();
}

void SimulatedSync::begin() {
  if (is_running_ || error_ || requested_ <= synced_) return;
  is_running_ = true;
  world_.after(world_.between(1, 40), [this, lives = lives_, number = requested_] {
    if (!*lives) return;
    is_running_ = false;
    if (const auto done = disk_->sync())
      synced_ = number;
    else
      error_ = done.error();
    begin();
    on_done_();
  });
}

}  // namespace px::simulation
