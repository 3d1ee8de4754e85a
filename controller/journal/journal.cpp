#include "controller/journal/journal.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "wire/counted.hpp"

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
              options.mode == JournalMode::power ? std::make_unique<SyncThread>(storage, waker)
                                                 : nullptr) {
  storage_->set_waker(std::move(waker));
}

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
    if (segment_ != 0 && segment != segment_ + 1)
      errors_.push_back("the journal's files between " + storage_->name_of(segment_) + " and " +
                        storage_->name_of(segment) +
                        " are missing: tasks that were only there are lost");
    if (segment != segment_ + 1) previous_bytes_ = 0;
    read(segment, replay);
    segment_ = segment;
  }
  index_.forget_assignments_of_nothing();
  last_order_ = replay.last_order();
  // What an earlier controller wrote may not be on the disk, and is going to be relied on.
  if (syncs_)
    if (auto synced = storage_->sync_all(); !synced) errors_.push_back(synced.error().what);
  return replay.take();
}

void Journal::read(SegmentNumber segment, JournalReplay& replay) {
  const Result<std::string> text = storage_->read(segment);
  if (text)
    read_records(segment, *text, replay);
  else
    errors_.push_back(text.error().what + ": tasks that were only there are lost");
  previous_bytes_ = text ? text->size() : 0;
}

void Journal::read_records(SegmentNumber segment, std::string_view text, JournalReplay& replay) {
  index_.wrote(segment, text.size());
  JournalReader reader{text};
  while (const auto record = reader.next()) {
    const auto* begin = std::get_if<JournalBegin>(&*record);
    if (begin && begin->cluster != options_.cluster) return;
    if (begin && previous_bytes_ != 0 && begin->previous_bytes > previous_bytes_)
      errors_.push_back(storage_->name_of(segment - 1) +
                        " is cut: " + std::to_string(begin->previous_bytes - previous_bytes_) +
                        " bytes are missing at its end, and tasks that were only there are lost");
    index_.add(*record, segment, reader.text().size());
    replay.read(*record);
  }
  if (!reader.damages().empty()) name_damage(segment, reader);
}

void Journal::name_damage(SegmentNumber segment, const JournalReader& reader) {
  const std::string name = storage_->name_of(segment);
  const std::vector<JournalDamage>& damages = reader.damages();
  if (reader.is_other_version()) {
    errors_.push_back(
        name +
        " was written by another version of polyxeus, and its tasks are not continued: start the "
        "controller of that version to finish them; the file is kept as " +
        storage_->name_set_aside(segment));
    return set_aside(segment);
  }
  if (reader.is_torn() && damages.size() == 1) {
    errors_.push_back(name + " ends with " + std::to_string(damages[0].bytes) +
                      " bytes of an incomplete record: the last write before the controller or its "
                      "host ended is lost");
    return;
  }
  std::size_t bytes = 0;
  for (const JournalDamage& damage : damages) bytes += damage.bytes;
  damaged_.insert(segment);
  errors_.push_back(name + " is damaged: " + counted(bytes, "byte") + " in " +
                    counted(damages.size(), "place") + ", the first at byte " +
                    std::to_string(damages[0].offset) +
                    ". Tasks that were only there are lost, and all others continue; the file will "
                    "be kept as " +
                    storage_->name_set_aside(segment));
}

void Journal::set_aside(SegmentNumber segment) {
  if (auto done = storage_->set_aside(segment); !done) errors_.push_back(done.error().what);
  index_.removed(segment);
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
                                            "survive a loss of power; restart the cluster"};
  remove_what_is_copied();
  if (!storage_->accepts()) {
    end_batch(false);
    return refusal(storage_->trouble().value_or("the disk accepts no more data"));
  }
  if (batch_.empty() && unwritten_.empty()) {
    if (awaits_read_) clean_up();
    return ticket_;
  }
  put_unwritten_first();
  for (const TaskDigest& task : index_.superfluous()) put_aside(JournalForgotten{task});
  const Result<void> written = write(batch_);
  end_batch(written.has_value());
  if (!written) return refusal(written.error().what);
  clean_up();
  return ticket_;
}

Error Journal::refusal(const std::string& cause) const {
  return {ErrorKind::overloaded, "the journal of tasks cannot be written (" + cause +
                                     "): make room there and call again, or start the controller "
                                     "with --journal=off"};
}

/// Later records overrule earlier ones.
void Journal::put_unwritten_first() {
  if (unwritten_.empty()) return;
  const std::string later = std::exchange(batch_, {});
  std::vector<PutAside> waiting = std::exchange(waiting_, {});
  for (JournalRecord& record : std::exchange(unwritten_, {})) put_aside(std::move(record));
  batch_ += later;
  waiting_.insert(waiting_.end(), std::make_move_iterator(waiting.begin()),
                  std::make_move_iterator(waiting.end()));
}

void Journal::end_batch(bool is_written) {
  batch_.clear();
  for (PutAside& each : std::exchange(waiting_, {})) {
    if (is_written)
      index_.add(each.record, segment_, each.bytes);
    else if (is_written_later(each.record))
      unwritten_.push_back(std::move(each.record));
  }
}

/// Without its frames. An end that stands there already has the reply, and is not overruled.
bool Journal::is_written_later(const JournalRecord& record) const {
  if (std::holds_alternative<JournalSubmitted>(record)) return false;
  const auto* finished = std::get_if<JournalFinished>(&record);
  return !finished || !index_.is_finished(finished->task);
}

Result<void> Journal::write(std::string_view text) {
  const bool needs_segment = segment_end_ == 0 || index_.is_full(segment_);
  std::string whole;
  if (needs_segment) {
    whole = journal_magic;
    append_record(whole, JournalBegin{options_.cluster, previous_bytes_});
    whole += text;
    text = whole;
  }
  const SegmentNumber segment = segment_ + (needs_segment ? 1 : 0);
  const std::uint64_t offset = needs_segment ? 0 : segment_end_;
  if (auto written = storage_->write(segment, offset, text); !written) return written;
  segment_ = segment;
  previous_bytes_ = segment_end_ = offset + text.size();
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
  while (const auto oldest = index_.useless()) remove_later(*oldest);
  if (const auto oldest = index_.wasteful(); oldest && copy_needed(*oldest)) remove_later(*oldest);
}

/// Whether nothing of the segment is needed any more.
bool Journal::copy_needed(SegmentNumber segment) {
  const std::optional<Result<std::string>> text = storage_->read_later(segment);
  awaits_read_ = !text;
  if (!text) return false;
  if (!*text) {
    errors_.push_back(text->error().what);
    return false;
  }
  JournalReader reader{**text};
  std::vector<std::pair<JournalRecord, std::string_view>> needed;
  std::map<std::pair<std::size_t, TaskDigest>, std::size_t> latest;  // by kind and task
  while (auto record = reader.next()) {
    if (!index_.is_needed(*record, segment)) continue;
    latest[{record->index(), task_of(*record)}] = needed.size();
    needed.emplace_back(std::move(*record), reader.text());
  }
  // Of records of which the later overrules the earlier the last only: were the process to end in the
  // middle of the copies, an earlier one would stand behind the later one of this segment.
  std::string copies;
  std::vector<PutAside> copied;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    auto& [record, record_text] = needed[i];
    if (latest[{record.index(), task_of(record)}] != i) continue;
    copies += record_text;
    copied.push_back({std::move(record), record_text.size()});
  }
  if (copies.empty()) return true;
  if (auto written = write(copies); !written) {
    errors_.push_back(written.error().what);
    return false;
  }
  for (const PutAside& each : copied) index_.add(each.record, segment_, each.bytes);
  return true;
}

/// Its copies must not be lost with the power.
void Journal::remove_later(SegmentNumber segment) {
  index_.removed(segment);
  unneeded_.push_back({segment, ticket_});
  remove_what_is_copied();
}

void Journal::remove_what_is_copied() {
  for (; !unneeded_.empty() && is_durable(unneeded_.front().ticket); unneeded_.pop_front()) {
    const SegmentNumber segment = unneeded_.front().segment;
    if (damaged_.erase(segment) > 0)
      set_aside(segment);
    else if (auto removed = storage_->remove(segment); !removed)
      errors_.push_back(removed.error().what);
  }
}

std::vector<std::string> Journal::take_errors() {
  std::vector<std::string> errors = std::exchange(errors_, {});
  for (std::string& error : storage_->take_errors()) errors.push_back(std::move(error));
  return errors;
}

}  // namespace px::controller
