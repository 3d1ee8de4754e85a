#include "controller/journal/journal_index.hpp"

#include <iterator>
#include <variant>

namespace px::controller {

void JournalIndex::wrote(SegmentNumber segment, std::size_t bytes) {
  segments_[segment].bytes += bytes;
  bytes_ += bytes;
}

void JournalIndex::put(Place& place, SegmentNumber segment, std::size_t bytes) {
  take(place);
  place = {segment, static_cast<std::uint32_t>(bytes)};
  segments_[segment].needed += bytes;
  needed_ += bytes;
}

void JournalIndex::take(Place& place) {
  if (place.bytes == 0) return;
  segments_[place.segment].needed -= place.bytes;
  needed_ -= place.bytes;
  place.bytes = 0;
}

void JournalIndex::add(const JournalRecord& record, SegmentNumber segment, std::size_t bytes) {
  if (const auto* one = std::get_if<JournalSubmitted>(&record))
    submitted(digest_of(one->msg_id.text), segment, bytes);
  else if (const auto* two = std::get_if<JournalAssigned>(&record))
    assigned(two->task, segment, bytes);
  else if (const auto* three = std::get_if<JournalFinished>(&record))
    finished(three->task, segment, bytes);
  else if (const auto* four = std::get_if<JournalForgotten>(&record))
    forgotten(four->task);
}

void JournalIndex::submitted(const TaskDigest& task, SegmentNumber segment, std::size_t bytes) {
  put(tasks_[task].submitted, segment, bytes);
}

void JournalIndex::assigned(const TaskDigest& task, SegmentNumber segment, std::size_t bytes) {
  Task& known = tasks_[task];  // whose submission may stand further behind, as a copy
  if (known.finished.bytes == 0) put(known.assigned, segment, bytes);
}

void JournalIndex::forget_assignments_of_nothing() {
  for (auto each = tasks_.begin(); each != tasks_.end();) {
    Task& known = each->second;
    const bool is_known = known.submitted.bytes > 0 || known.finished.bytes > 0;
    if (!is_known) take(known.assigned);
    each = is_known ? std::next(each) : tasks_.erase(each);
  }
}

void JournalIndex::finished(const TaskDigest& task, SegmentNumber segment, std::size_t bytes) {
  Task& known = tasks_[task];
  if (known.finished.bytes == 0) {
    results_.push_back(task);
    ++result_count_;
  }
  result_bytes_ += bytes - known.finished.bytes;
  put(known.finished, segment, bytes);
  take(known.assigned);
}

void JournalIndex::forgotten(const TaskDigest& task) {
  const auto found = tasks_.find(task);
  if (found == tasks_.end()) return;
  Task& known = found->second;
  if (known.finished.bytes > 0) {
    --result_count_;
    result_bytes_ -= known.finished.bytes;
  }
  for (Place* place : {&known.submitted, &known.assigned, &known.finished}) take(*place);
  tasks_.erase(found);
  while (!results_.empty() && !is_finished(results_.front())) results_.pop_front();
}

void JournalIndex::removed(SegmentNumber segment) {
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return;
  bytes_ -= found->second.bytes;
  segments_.erase(found);
}

/// A damaged journal may have the answer without the submission.
bool JournalIndex::knows(const TaskDigest& task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() && found->second.submitted.bytes > 0;
}

bool JournalIndex::is_finished(const TaskDigest& task) const {
  const auto found = tasks_.find(task);
  return found != tasks_.end() && found->second.finished.bytes > 0;
}

bool JournalIndex::is_needed(const JournalRecord& record, SegmentNumber segment) const {
  const auto found = tasks_.find(task_of(record));
  if (found == tasks_.end()) return false;
  const auto stands_here = [&](const Place& place) {
    return place.bytes > 0 && place.segment == segment;
  };
  if (std::holds_alternative<JournalSubmitted>(record)) return stands_here(found->second.submitted);
  if (std::holds_alternative<JournalAssigned>(record)) return stands_here(found->second.assigned);
  return std::holds_alternative<JournalFinished>(record) && stands_here(found->second.finished);
}

std::vector<TaskDigest> JournalIndex::superfluous() const {
  std::vector<TaskDigest> tasks;
  std::size_t count = result_count_, bytes = result_bytes_;
  for (const TaskDigest& task : results_) {
    if (count <= limits_.results && bytes <= limits_.result_bytes) break;
    const auto found = tasks_.find(task);
    if (found == tasks_.end() || found->second.finished.bytes == 0) continue;
    --count;
    bytes -= found->second.finished.bytes;
    tasks.push_back(task);
  }
  return tasks;
}

bool JournalIndex::is_full(SegmentNumber segment) const {
  const auto found = segments_.find(segment);
  return found != segments_.end() && found->second.bytes >= limits_.segment_bytes;
}

std::optional<SegmentNumber> JournalIndex::useless() const {
  if (segments_.size() < 2 || segments_.begin()->second.needed > 0) return std::nullopt;
  return segments_.begin()->first;
}

std::optional<SegmentNumber> JournalIndex::wasteful() const {
  if (segments_.size() < 2 || bytes_ <= 2 * needed_ + 4 * limits_.segment_bytes)
    return std::nullopt;
  return segments_.begin()->first;
}

}  // namespace px::controller
