#include "controller/journal/journal.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace px::controller {

Result<JournalMode> journal_mode_by_name(std::string_view name) {
  if (name == "off") return JournalMode::off;
  if (name == "process") return JournalMode::process;
  if (name == "power") return JournalMode::power;
  return Error{ErrorKind::bad_input,
               "--journal takes off, process or power, not '" + std::string(name) + "'"};
}

Journal::Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
                 net::Waker waker)
    : Journal(storage, options,
              options.mode == JournalMode::power
                  ? std::make_unique<SyncThread>(storage, std::move(waker))
                  : nullptr) {}

Journal::Journal(std::shared_ptr<JournalStorage> storage, const JournalOptions& options,
                 std::unique_ptr<JournalSync> syncs)
    : storage_(std::move(storage)),
      options_(options),
      index_(options.limits),
      syncs_(std::move(syncs)) {}

// ---------------------------------------------------------------- what an earlier one left

std::vector<ReplayedTask> Journal::replay() {
  JournalReplay replay;
  const auto segments = storage_->segments();
  if (!segments) {
    errors_.push_back(segments.error().what);
    return {};
  }
  for (const SegmentNumber segment : *segments) {
    read(segment, replay);
    segment_ = std::max(segment_, segment);
  }
  last_order_ = replay.last_order();
  // What an earlier controller wrote may not be on the disk, and is going to be relied on.
  if (syncs_)
    if (auto synced = storage_->sync_all(); !synced) errors_.push_back(synced.error().what);
  return replay.take();
}

void Journal::read(SegmentNumber segment, JournalReplay& replay) {
  const Result<std::string> text = storage_->read(segment);
  if (!text) {
    errors_.push_back(text.error().what);
    return;
  }
  index_.wrote(segment, text->size());
  JournalReader reader{*text};
  while (const auto record = reader.next()) {
    const auto* begin = std::get_if<JournalBegin>(&*record);
    if (begin && begin->cluster != options_.cluster) return;
    index_.add(*record, segment, reader.text().size());
    replay.read(*record);
  }
}

// ---------------------------------------------------------------- what is told

void Journal::note(JournalRecord record, std::size_t start) {
  waiting_.push_back({std::move(record), batch_.size() - start});
}

void Journal::put_aside(JournalRecord record) {
  const std::size_t start = batch_.size();
  append_record(batch_, record);
  if (auto* finished = std::get_if<JournalFinished>(&record)) finished->reply = nullptr;
  note(std::move(record), start);
}

void Journal::submitted(const MessageId& msg_id, const Frames& request) {
  if (knows(digest_of(msg_id.text)) || total_bytes(request) > options_.longest) return;
  const std::size_t start = batch_.size();
  append_submitted(batch_, ++last_order_, msg_id.text, request);
  note(JournalSubmitted{last_order_, msg_id, nullptr}, start);
}

void Journal::assigned(const MessageId& msg_id, const EngineUuid& engine) {
  const TaskDigest task = digest_of(msg_id.text);
  if (knows(task)) put_aside(JournalAssigned{task, engine});
}

void Journal::finished(const MessageId& msg_id, const EngineUuid& engine, TaskOutcome outcome,
                       SharedFrames reply) {
  const TaskDigest task = digest_of(msg_id.text);
  if (!knows(task)) return;
  if (reply && total_bytes(*reply) > options_.longest) reply = nullptr;
  put_aside(JournalFinished{task, engine, outcome, std::move(reply)});
}

// ---------------------------------------------------------------- what is written

Result<Journal::Ticket> Journal::commit() {
  if (auto failed = failure())
    return Error{ErrorKind::overloaded, failed->what +
                                            ": no further tasks are accepted, as they would not "
                                            "survive a loss of power; start the cluster anew"};
  if (batch_.empty() && unwritten_.empty()) return ticket_;
  put_unwritten_first();
  for (const TaskDigest& task : index_.superfluous()) put_aside(JournalForgotten{task});
  const Result<void> written = commit_batch();
  if (!written)
    return Error{ErrorKind::overloaded,
                 "the journal of tasks cannot be written (" + written.error().what +
                     "): make room there and call again, or start the controller with "
                     "--journal=off"};
  clean_up();
  return ticket_;
}

/// Later records overrule earlier ones.
void Journal::put_unwritten_first() {
  if (unwritten_.empty()) return;
  const std::string later = std::exchange(batch_, {});
  std::vector<Waiting> waiting = std::exchange(waiting_, {});
  for (JournalRecord& record : std::exchange(unwritten_, {})) put_aside(std::move(record));
  batch_ += later;
  waiting_.insert(waiting_.end(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
}

Result<void> Journal::commit_batch() {
  const Result<void> written = write(batch_);
  batch_.clear();
  for (Waiting& each : std::exchange(waiting_, {})) {
    if (written)
      index_.add(each.record, segment_, each.bytes);
    else if (is_written_later(each.record))
      unwritten_.push_back(std::move(each.record));
  }
  return written;
}

/// Without its frames. An end that stands there already has the reply, and is not overruled.
bool Journal::is_written_later(const JournalRecord& record) const {
  if (std::holds_alternative<JournalSubmitted>(record)) return false;
  const auto* finished = std::get_if<JournalFinished>(&record);
  return !finished || !index_.is_finished(finished->task);
}

Result<void> Journal::write(std::string_view text) {
  const bool needs_segment = !is_segment_begun_ || index_.is_full(segment_);
  std::string whole;
  if (needs_segment) {
    whole = journal_magic;
    append_record(whole, JournalBegin{options_.cluster});
    whole += text;
    text = whole;
  }
  const SegmentNumber segment = segment_ + (needs_segment ? 1 : 0);
  if (auto written = storage_->append(segment, text); !written) return written;
  segment_ = segment;
  is_segment_begun_ = true;
  index_.wrote(segment_, text.size());
  ++ticket_;
  if (syncs_) syncs_->request(ticket_);
  return {};
}

bool Journal::is_durable(Ticket ticket) const {
  return !syncs_ || syncs_->synced() >= ticket;
}

std::optional<Error> Journal::failure() const {
  return syncs_ ? syncs_->error() : std::nullopt;
}

// ---------------------------------------------------------------- what may go

void Journal::clean_up() {
  while (const auto oldest = index_.useless()) remove(*oldest);
  if (const auto oldest = index_.wasteful(); oldest && copy_needed(*oldest)) remove(*oldest);
}

bool Journal::copy_needed(SegmentNumber segment) {
  const Result<std::string> text = storage_->read(segment);
  if (!text) {
    errors_.push_back(text.error().what);
    return false;
  }
  JournalReader reader{*text};
  std::string copies;
  std::vector<Waiting> copied;
  while (auto record = reader.next()) {
    if (!index_.is_needed(*record, segment)) continue;
    copies += reader.text();
    copied.push_back({std::move(*record), reader.text().size()});
  }
  if (copies.empty()) return true;
  Result<void> written = write(copies);
  if (written && syncs_) written = storage_->sync();
  if (!written) {
    errors_.push_back(written.error().what);
    return false;
  }
  for (const Waiting& each : copied) index_.add(each.record, segment_, each.bytes);
  return true;
}

void Journal::remove(SegmentNumber segment) {
  if (auto removed = storage_->remove(segment); !removed) errors_.push_back(removed.error().what);
  index_.removed(segment);
}

std::vector<std::string> Journal::take_errors() {
  return std::exchange(errors_, {});
}

}  // namespace px::controller
