#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "controller/journal/journal_record.hpp"

namespace px::controller {

/// The number of a segment: higher ones were written later.
using SegmentNumber = std::uint32_t;

/// Knows which records are still needed and which segments contain them, and so which segments may
/// be removed: the oldest first, because a record that ends a task must not be removed before the
/// one that began it. Of a task, the submission, the latest assignment while it runs and the answer
/// are needed until it is forgotten. The Journal reports each record that it has read or written,
/// and asks which records to forget and to copy, and which segments to remove. Uses no file.
class JournalIndex {
 public:
  struct Limits {
    std::size_t results = 4096;                         ///< The most answers that are kept, the
                                                        ///< latest ones.
    std::size_t result_bytes = std::size_t{64} << 20;   ///< The most bytes of kept answers.
    std::size_t segment_bytes = std::size_t{16} << 20;  ///< A segment of this size is full.
  };
  explicit JournalIndex(Limits limits) : limits_(limits) {}

  /// This many bytes were written to the segment, including those of the records that are reported
  /// next.
  void wrote(SegmentNumber segment, std::size_t bytes);
  /// The segment contains the record, with this number of bytes. A record that was copied is
  /// reported again.
  void add(const JournalRecord& record, SegmentNumber segment, std::size_t bytes);
  // The same as add() for one kind of record each. Reports that an unknown task was forgotten are
  // ignored. An assignment or an answer may come before its submission, which was copied when its
  // segment was removed; an answer without one is kept, because a damaged journal may lack the
  // submission.
  void submitted(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void assigned(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void finished(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void forgotten(const TaskDigest& task);
  /// All records of an earlier controller were reported: assignments without a submission are not
  /// needed.
  void forget_assignments_of_nothing();
  /// The segment is removed, or is about to be.
  void removed(SegmentNumber segment);

  /// Whether it is submitted, and not forgotten.
  bool knows(const TaskDigest& task) const;
  bool is_finished(const TaskDigest& task) const;
  /// Whether the record, read from this segment, is needed and is in no other segment.
  bool is_needed(const JournalRecord& record, SegmentNumber segment) const;

  /// The oldest answers, as far as they exceed the limits.
  std::vector<TaskDigest> superfluous() const;
  /// Whether the next record must go to another segment.
  bool is_full(SegmentNumber segment) const;
  /// The oldest segment, if nothing in it is needed and it is not the latest.
  std::optional<SegmentNumber> useless() const;
  /// The oldest segment, if the segments together are more than twice as large as the needed
  /// records: its needed records must be copied.
  std::optional<SegmentNumber> wasteful() const;

  /// The number of tasks that are not forgotten.
  std::size_t size() const { return tasks_.size(); }
  /// The bytes of all segments, needed or not.
  std::size_t bytes() const { return bytes_; }

 private:
  struct Place {
    SegmentNumber segment = 0;
    std::uint32_t bytes = 0;  ///< 0: there is none.
  };
  struct Task {
    Place submitted, assigned, finished;
  };
  struct Segment {
    std::size_t bytes = 0, needed = 0;
  };
  void put(Place& place, SegmentNumber segment, std::size_t bytes);
  void take(Place& place);

  Limits limits_;
  std::unordered_map<TaskDigest, Task, TaskDigestHash> tasks_;
  std::map<SegmentNumber, Segment> segments_;
  std::deque<TaskDigest> results_;  // the oldest first; some are already forgotten
  std::size_t result_count_ = 0, result_bytes_ = 0;
  std::size_t bytes_ = 0, needed_ = 0;
};

}  // namespace px::controller
