#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "controller/journal/journal_record.hpp"

namespace px::controller {

/// A task according to the journal.
struct ReplayedTask {
  std::uint64_t order = 0;
  MessageId msg_id;
  SharedFrames request;
  /// The engine that was given it last, or has answered it; empty: none.
  EngineUuid engine;
  bool is_finished = false;
  TaskOutcome outcome = TaskOutcome::ok;  ///< Valid once it is finished.
  SharedFrames reply;                     ///< Valid once it is finished; null: it was not kept.
};

/// Finds the unfinished work in records: tasks that are not answered, and answers that a client may
/// still request. The Journal passes it all records of all segments, the oldest first, and takes
/// the result once. A submission may follow the answer: it was copied there when its segment was
/// removed. Uses no file.
class JournalReplay {
 public:
  /// The next record of the journal.
  void read(const JournalRecord& record);
  /// All tasks that are not forgotten and whose submission was found, in the order in which they
  /// were submitted. Removes all that was read from this object.
  std::vector<ReplayedTask> take();
  /// The highest order so far.
  std::uint64_t last_order() const { return last_order_; }

 private:
  struct Task {
    ReplayedTask task;
    bool is_forgotten = false;
  };
  void read_one(const JournalBegin&) {}
  void read_one(const JournalSubmitted& record);
  void read_one(const JournalAssigned& record);
  void read_one(const JournalFinished& record);
  void read_one(const JournalForgotten& record);

  std::unordered_map<TaskDigest, Task, TaskDigestHash> tasks_;
  std::uint64_t last_order_ = 0;
};

}  // namespace px::controller
