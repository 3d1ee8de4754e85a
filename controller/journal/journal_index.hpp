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

/// Knows which records are still of use and in which segments they stand, and so which segments may
/// go: the oldest first, as a record that ends a task must not go before the one that began it. Of
/// a task the submission, the latest assignment while it runs and the answer are of use, until it
/// is forgotten. The Journal tells it each record that it has read or written, and asks it what to
/// forget, to copy and to remove. Sees no file.
class JournalIndex {
 public:
  struct Limits {
    std::size_t results = 4096;                         ///< So many answers are kept, the latest,
    std::size_t result_bytes = std::size_t{64} << 20;   ///< and so many bytes of them.
    std::size_t segment_bytes = std::size_t{16} << 20;  ///< A segment of this size is full.
  };
  explicit JournalIndex(Limits limits) : limits_(limits) {}

  /// So many bytes were written to the segment, among them those of the records that are told next.
  void wrote(SegmentNumber segment, std::size_t bytes);
  /// The record stands in this segment with so many bytes. One that was copied is told again.
  void add(const JournalRecord& record, SegmentNumber segment, std::size_t bytes);
  // The same for one kind of record each. That an unknown task was forgotten is ignored. An
  // assignment or an answer may come before its submission, which was copied when its segment went;
  // an answer without one is kept, as a damaged journal may lack that.
  void submitted(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void assigned(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void finished(const TaskDigest& task, SegmentNumber segment, std::size_t bytes);
  void forgotten(const TaskDigest& task);
  /// All records of an earlier controller were told: assignments without a submission are of no use.
  void forget_assignments_of_nothing();
  /// The segment is gone, or is about to be.
  void removed(SegmentNumber segment);

  /// Whether it is submitted, and not forgotten.
  bool knows(const TaskDigest& task) const;
  bool is_finished(const TaskDigest& task) const;
  /// Whether the record, read from this segment, is of use and stands nowhere else.
  bool is_needed(const JournalRecord& record, SegmentNumber segment) const;

  /// The oldest answers, as far as they are too many or too large together.
  std::vector<TaskDigest> superfluous() const;
  /// Whether the next record belongs into another segment.
  bool is_full(SegmentNumber segment) const;
  /// The oldest segment, if nothing in it is needed and it is not the latest.
  std::optional<SegmentNumber> useless() const;
  /// The oldest segment, if the segments together are more than twice what is needed of them: what
  /// is needed of it is to be copied.
  std::optional<SegmentNumber> wasteful() const;

  /// Tasks that are not forgotten.
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
  std::deque<TaskDigest> results_;  // the oldest first; some are forgotten already
  std::size_t result_count_ = 0, result_bytes_ = 0;
  std::size_t bytes_ = 0, needed_ = 0;
};

}  // namespace px::controller
