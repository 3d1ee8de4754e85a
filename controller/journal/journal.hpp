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

/// What the unfinished tasks and calls of a controller outlive.
enum class JournalMode {
  off,      ///< Nothing: there is no journal.
  process,  ///< The end of the controller's process, however it comes.
  power,    ///< The loss of power, too: nothing is promised before it is on the disk.
};
/// errors  bad_input: no such mode; names those that there are.
Result<JournalMode> journal_mode_by_name(std::string_view name);

struct JournalOptions {
  JournalMode mode = JournalMode::process;
  /// Tells the journals of different clusters apart: what was written for another one is dropped.
  std::string cluster = {};
  JournalIndex::Limits limits = {};
  /// Requests and replies that are longer are not written.
  std::size_t longest = std::size_t{16} << 20;
};

/// Writes down which tasks were accepted, given to engines and answered, so that a later controller
/// can go on with them. (For load-balanced tasks; CallJournal uses one of its own in the same way
/// for direct calls.) The caller tells what happens and commits; what must not happen before it is
/// written it does when is_durable() says so for the ticket of that commit. Nothing here holds a
/// request or a reply back: that is the ledgers' task.
///
/// The records lie in segments, files of about 16 MiB, of which the oldest are removed once nothing
/// in them is needed any more. A finished task is needed until its answer is one of too many
/// (JournalIndex::Limits); then it is forgotten.
///
/// The I/O thread owns it. What is told is put aside until commit(), which does not wait for a disk
/// if the storage does not.
class Journal {
 public:
  /// Grows with each commit().
  using Ticket = std::uint64_t;

  /// waker  wakes the I/O thread when is_durable() may say more.
  Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
          net::Waker waker = {});
  /// syncs  forces to the disk what is written; null: nothing is waited for.
  Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
          std::unique_ptr<JournalSync> syncs);

  /// What an earlier controller of this cluster left, in the order of submission. Call it once,
  /// before all else. What is lost, as it cannot be read, was changed or is of another version, is
  /// named in take_errors(); the segment is set aside, at the latest when it is needed no more.
  std::vector<ReplayedTask> replay();

  /// A task was accepted. One that is known already is left out; so is one that is too long, with
  /// all that is told of it later.
  /// request  [client, delimiter, ...]; encoded at once, not kept.
  void submitted(const MessageId& msg_id, const Frames& request);
  /// engine  that was given the task; empty: it gave it back.
  void assigned(const MessageId& msg_id, const EngineUuid& engine);
  /// The task is answered.
  /// engine  where it ran; empty: nowhere.
  /// reply  as in JournalFinished.
  void finished(const MessageId& msg_id, const EngineUuid& engine, TaskOutcome outcome,
                SharedFrames reply);
  /// Writes what was put aside. Where it fails the submissions are dropped; that a task was given
  /// to an engine, or is finished, is written with a later commit: when the storage accepts again.
  /// errors  overloaded: one sentence with the cause and the fix.
  Result<Ticket> commit();
  /// Whether all up to this ticket outlives what the mode says: with JournalMode::process at once,
  /// with power once the disk has it.
  bool is_durable(Ticket ticket) const;
  /// The error by which the disk has failed; then what is not durable yet will not be. With power
  /// only.
  std::optional<Error> failure() const;
  /// Why nothing has reached the disk for a while, in one sentence; nothing: all is well.
  std::optional<std::string> trouble() const { return storage_->trouble(); }

  /// What went wrong since the last call, other than what commit() has returned; sentences for the
  /// log.
  std::vector<std::string> take_errors();
  /// Whether its answer is written, and not forgotten.
  bool is_finished(const MessageId& msg_id) const {
    return index_.is_finished(digest_of(msg_id.text));
  }
  /// Tasks that are submitted and not forgotten.
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
    Ticket ticket;  // once this is durable its copies are
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
  bool awaits_read_ = false;       // of the oldest segment, which is to be copied
  std::string batch_;
  std::vector<PutAside> waiting_;           // the records of batch_
  std::vector<JournalRecord> unwritten_;    // of commits that failed, but for submissions
  Ticket ticket_ = 0;
  std::vector<std::string> errors_;
  std::unique_ptr<JournalSync> syncs_;  // null unless the mode is power
};

}  // namespace px::controller
