#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_index.hpp"
#include "controller/journal/journal_replay.hpp"
#include "controller/journal/journal_storage.hpp"
#include "controller/journal/sync_thread.hpp"
#include "net/loop.hpp"

namespace px::controller {

/// Which failures the unfinished tasks and calls of a controller survive.
enum class JournalMode {
  off,      ///< None: there is no journal.
  process,  ///< The end of the controller's process, for any reason.
  power,    ///< Also the loss of power: nothing is promised before it is on the disk.
};
/// errors  bad_input: no such mode; the message names the existing ones.
Result<JournalMode> journal_mode_by_name(std::string_view name);

struct JournalOptions {
  JournalMode mode = JournalMode::process;
  /// Distinguishes the journals of different clusters: records of another cluster are dropped.
  std::string cluster = {};
  JournalIndex::Limits limits = {};
  /// Longer requests and replies are not written.
  std::size_t longest = std::size_t{16} << 20;
};

/// Records which tasks were accepted, given to engines and answered, so that a later controller can
/// continue with them. (For load-balanced tasks; CallJournal uses a separate one in the same way
/// for direct calls.) The caller reports what happens and commits; actions that require durability
/// must wait until is_durable() is true for the ticket of that commit. The journal does not delay
/// requests or replies: that is the ledgers' task.
///
/// The records are in segments, files of about 16 MiB, of which the oldest are removed once nothing
/// in them is needed. A finished task is needed until its answer exceeds the limits
/// (JournalIndex::Limits); it is forgotten after that.
///
/// The I/O thread owns it. Reports are collected until commit(), which does not wait for a disk if
/// the storage does not.
class Journal {
 public:
  /// Grows with each commit().
  using Ticket = std::uint64_t;

  /// waker  wakes the I/O thread when is_durable() may have changed.
  Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
          net::Waker waker = {});
  /// syncs  forces written records to the disk; null: records count as durable when written.
  Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
          std::unique_ptr<JournalSync> syncs);

  /// What an earlier controller of this cluster left, in the order of submission. Call it once,
  /// before all other functions. take_errors() names records that are lost because they cannot be
  /// read, were changed or are of another version; their segment is set aside, at the latest when
  /// it is no longer needed.
  std::vector<ReplayedTask> replay();

  /// A task was accepted. A known one is left out; so is one that is too long, with all later
  /// reports about it.
  /// request  [client, delimiter, ...]; encoded at once, not kept.
  void submitted(const MessageId& msg_id, const Frames& request);
  /// engine  that was given the task; empty: it gave the task back.
  void assigned(const MessageId& msg_id, const EngineUuid& engine);
  /// The task is answered.
  /// engine  the engine that ran it; empty: none.
  /// reply  as in JournalFinished.
  void finished(const MessageId& msg_id, const EngineUuid& engine, TaskOutcome outcome,
                SharedFrames reply);
  /// Writes the collected records. If that fails the submissions are dropped; assignments and ends
  /// of tasks are written with a later commit, when the storage accepts records again.
  /// errors  overloaded: one sentence with the cause and the fix.
  Result<Ticket> commit();
  /// Whether all up to this ticket is as durable as the mode requires: with JournalMode::process at
  /// once, with power once the disk has it.
  bool is_durable(Ticket ticket) const;
  /// The error with which the disk has failed; after that, records that are not durable yet never
  /// will be. With power only.
  std::optional<Error> failure() const;
  /// The reason why nothing has reached the disk for some time, in one sentence; nothing if there
  /// is no problem.
  std::optional<std::string> trouble() const { return storage_->trouble(); }

  /// The errors since the last call that commit() has not returned; sentences for the log.
  std::vector<std::string> take_errors();
  /// Whether its answer is written, and not forgotten.
  bool is_finished(const MessageId& msg_id) const {
    return index_.is_finished(digest_of(msg_id.text));
  }
  /// The number of tasks that are submitted and not forgotten.
  std::size_t size() const { return index_.size(); }
  /// The bytes of all segments.
  std::size_t bytes() const { return index_.bytes(); }

 private:
  struct PutAside {
    JournalRecord record;  // without frames
    std::size_t bytes;
  };
  struct Unneeded {
    SegmentNumber segment;
    Ticket ticket;  // once this is durable, its copies are, too
  };
  void read(SegmentNumber segment, JournalReplay& replay);
  void read_records(SegmentNumber segment, std::string_view text, JournalReplay& replay);
  void name_damage(SegmentNumber segment, const JournalReader& reader);
  void set_aside(SegmentNumber segment);
  bool knows(const TaskDigest& task) const { return index_.knows(task); }
  void put_aside(JournalRecord record);
  void note(JournalRecord record, std::size_t start);
  Result<void> write(std::string_view text);
  Error refusal(const std::string& cause) const;
  void put_unwritten_first();
  void end_batch(bool is_written);
  bool is_written_later(const JournalRecord& record) const;
  void clean_up();
  bool copy_needed(SegmentNumber segment);
  void remove_later(SegmentNumber segment);
  void remove_what_is_copied();

  const std::shared_ptr<JournalStorage> storage_;
  const JournalOptions options_;
  JournalIndex index_;
  std::uint64_t last_order_ = 0;
  SegmentNumber segment_ = 0;      // the latest
  std::uint64_t segment_end_ = 0;  // 0: this journal has not begun it
  std::uint64_t previous_bytes_ = 0;  // of the latest segment; 0: there is none
  std::set<SegmentNumber> damaged_;
  std::deque<Unneeded> unneeded_;  // the oldest first
  bool awaits_read_ = false;       // of the oldest segment, whose records must be copied
  std::string batch_;
  std::vector<PutAside> waiting_;           // the records of batch_
  std::vector<JournalRecord> unwritten_;    // of commits that failed, without submissions
  Ticket ticket_ = 0;
  std::vector<std::string> errors_;
  std::unique_ptr<JournalSync> syncs_;  // null unless the mode is power
};

}  // namespace px::controller
