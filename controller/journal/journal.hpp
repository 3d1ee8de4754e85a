#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/journal/journal_index.hpp"
#include "controller/journal/journal_replay.hpp"
#include "controller/journal/journal_storage.hpp"
#include "controller/journal/sync_thread.hpp"
#include "net/loop.hpp"

namespace px::controller {

/// What the balanced tasks in a controller outlive.
enum class JournalMode {
  off,
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

/// Writes down which balanced tasks were accepted, given to engines and answered, so that a later
/// controller can go on with them. The I/O thread owns it. What is told is put aside until
/// commit().
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
  /// before all else. Segments that cannot be read are named in take_errors().
  std::vector<ReplayedTask> replay();

  /// One that is known already, or is too long, is left out.
  void submitted(const MessageId& msg_id, const Frames& request);
  void assigned(const MessageId& msg_id, const EngineUuid& engine);
  /// reply  as in JournalFinished.
  void finished(const MessageId& msg_id, const EngineUuid& engine, TaskOutcome outcome,
                SharedFrames reply);
  /// Writes what was put aside. Where it fails the submissions are dropped; that a task was given
  /// to an engine, or is finished, is written with a later commit.
  /// errors  overloaded: one sentence with the cause and the fix.
  Result<Ticket> commit();
  /// Whether all up to this ticket outlives what the mode says.
  bool is_durable(Ticket ticket) const;
  /// The disk has failed: what is not durable yet will not be.
  std::optional<Error> failure() const;

  /// What went wrong beside a commit, in sentences, since the last call.
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
  struct Waiting {
    JournalRecord record;  // without frames
    std::size_t bytes;
  };
  void read(SegmentNumber segment, JournalReplay& replay);
  bool knows(const TaskDigest& task) const { return index_.knows(task); }
  void put_aside(JournalRecord record);
  void note(JournalRecord record, std::size_t start);
  Result<void> write(std::string_view text);
  void put_unwritten_first();
  Result<void> commit_batch();
  bool is_written_later(const JournalRecord& record) const;
  void clean_up();
  bool copy_needed(SegmentNumber segment);
  void remove(SegmentNumber segment);

  const std::shared_ptr<JournalStorage> storage_;
  const JournalOptions options_;
  JournalIndex index_;
  std::uint64_t last_order_ = 0;
  SegmentNumber segment_ = 0;      // the latest
  bool is_segment_begun_ = false;  // by this journal, and not by an earlier one
  std::string batch_;
  std::vector<Waiting> waiting_;            // the records of batch_
  std::vector<JournalRecord> unwritten_;    // of commits that failed, but for submissions
  Ticket ticket_ = 0;
  std::vector<std::string> errors_;
  std::unique_ptr<JournalSync> syncs_;  // null unless the mode is power
};

}  // namespace px::controller
