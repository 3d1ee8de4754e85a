#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "controller/journal/text_queue.hpp"
#include "controller/scheduler/task_digest.hpp"
#include "wire/frames.hpp"
#include "wire/ids.hpp"
#include "wire/time.hpp"

namespace px::controller {

/// Tasks that wait for a place in the TaskQueue when that has enough of them: a client may submit a
/// million tasks at once, and the controller's memory must not grow with them. Their requests are
/// in files, so that of a task that waits here only a digest is in memory; long ones, and all of
/// them if files cannot be written, wait in memory up to a limit. They leave in the order of their
/// arrival.
///
/// A task is here from push() until pop(), regardless of its targets or dependencies, which only
/// the queue examines. It is not a journal: the files disappear with the process. The TaskLedger
/// owns it, on the I/O thread. Uses no file and no clock.
class TaskBacklog {
 public:
  struct Limits {
    std::size_t tasks = 100'000;  ///< If the queue has this many, further ones wait here.
    /// Of the tasks in memory, here and in the queue together; 0: no limit.
    std::size_t bytes = 0;
  };
  /// The present load of the queue: the owner passes it with each call.
  struct Load {
    std::size_t tasks = 0, bytes = 0;
  };
  struct Waiting {
    MessageId msg_id;
    SharedFrames frames;  ///< As in TaskRequest.
  };

  /// files  null: all of them stay in memory.
  TaskBacklog(const Limits& limits, std::unique_ptr<TextQueue> files)
      : limits_(limits), files_(std::move(files)) {}

  /// Whether a task that arrives now must wait here: the queue has enough, or others already wait.
  bool takes(const Load& load) const { return !empty() || load.tasks >= limits_.tasks; }
  /// A task that already waits here is ignored. A task that cannot be written, or is long, stays in
  /// memory.
  /// may_write  false: it stays in memory.
  /// errors  overloaded: there is no memory for it either; one sentence with the cause and the fix.
  Result<void> push(Waiting task, bool may_write, const Load& load);
  /// The oldest task, if the queue has room for it.
  std::optional<Waiting> pop(const Load& load, Instant now);
  /// When pop() may return one; nothing if the queue has no room or no task waits.
  std::optional<Instant> next_deadline(const Load& load) const;

  /// Whether the task waits here.
  bool knows(std::string_view msg_id) const { return known_.contains(digest_of(msg_id)); }
  bool empty() const { return are_written_.empty(); }
  std::size_t size() const { return are_written_.size(); }
  /// The bytes of the tasks that are in memory.
  std::size_t memory_bytes() const { return memory_bytes_; }
  /// The errors since the last call, in sentences.
  std::vector<std::string> take_errors() { return std::exchange(errors_, {}); }

 private:
  bool write(const Waiting& task);
  bool has_room(const Load& load) const;
  std::optional<Waiting> read(Instant now);
  Error overload(std::size_t bytes, const Load& load) const;

  Limits limits_;
  std::unique_ptr<TextQueue> files_;  // null: there are none
  std::deque<bool> are_written_;      // for each task, in the order of arrival
  std::deque<Waiting> in_memory_;  // the others
  std::size_t memory_bytes_ = 0;
  std::unordered_set<TaskDigest, TaskDigestHash> known_;
  std::optional<Waiting> next_;  // the first one, once it was read
  Instant next_try_{};
  bool is_write_refused_ = false, is_read_refused_ = false;  // errors_ contained it
  std::vector<std::string> errors_;
};

}  // namespace px::controller
