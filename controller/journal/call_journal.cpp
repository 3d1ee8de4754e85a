#include "controller/journal/call_journal.hpp"

#include <algorithm>
#include <utility>

#include "controller/hub/call_types.hpp"
#include "controller/journal/joined_frames.hpp"
#include "wire/engine_end.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

/// Frames up to this are kept in memory of their own: libzmq's would keep its whole buffer.
constexpr std::size_t small_request = 4096;
/// So many calls are followed; what exceeds it is not written.
constexpr std::size_t most_owed = 65'536;
/// So many answered calls may still print something that is written,
constexpr std::size_t latest_answered = 64;
/// if their replies are no longer than this: they are written once more.
constexpr std::size_t longest_kept_reply = std::size_t{64} << 10;

std::string died(const EngineUuid& engine, const MessageId& msg_id) {
  return death_sentence({.engine = "'" + engine.text + "'"}, msg_id.text);
}

std::string missing(const EngineUuid& engine) {
  return "engine '" + engine.text +
         "' had ended when this request came, or did not come back to the restarted controller";
}

}  // namespace

JournalIndex::Limits CallJournal::limits() {
  return {.results = 1024, .result_bytes = std::size_t{32} << 20};
}

// ---------------------------------------------------------------- what an earlier one left

std::vector<LeftCall> CallJournal::replay() {
  std::vector<LeftCall> all;
  for (ReplayedTask& task : journal_->replay()) {
    // What was changed on the disk meanwhile has no right signature.
    if (!is_signed(*task.request, 2)) continue;
    all.push_back(read(std::move(task)));
    if (all.back().is_open) open(all.back().msg_id, all.back().request);
  }
  return all;
}

bool CallJournal::is_signed(const Frames& frames, std::size_t idents) const {
  const Result<Envelope> envelope = Envelope::locate(frames, idents);
  return envelope && envelope->ident_count == idents && session_.signer().verify(*envelope);
}

LeftCall CallJournal::read(ReplayedTask task) {
  LeftCall left{.msg_id = task.msg_id,
                .engine = EngineUuid{task.request->at(1)},
                .request = task.request,
                .is_open = !task.is_finished,
                .outputs = {}};
  if (left.is_open) return left;
  if (task.reply) left.outputs = split(task.reply);
  if (!left.outputs.empty() && is_signed(*left.outputs.front(), 2)) {
    left.reply = left.outputs.front();
    left.outputs.erase(left.outputs.begin());
    return left;
  }
  std::erase_if(left.outputs, [this](const SharedFrames& each) { return !is_signed(*each, 1); });
  const bool is_dead = task.outcome == TaskOutcome::failed;
  left.is_engine_gone = is_dead;
  left.error_name = is_dead ? "EngineError" : "ResultLost";
  left.error_value = is_dead ? died(left.engine, left.msg_id)
                             : "the request was done before the controller was restarted, and its "
                               "reply was not kept: the journal keeps replies of direct calls up "
                               "to 1 MiB";
  return left;
}

std::vector<LeftCall> CallJournal::give_up(const EngineUuid& engine) {
  std::vector<LeftCall> all;
  for (const auto& [order, msg_id] : owed_)
    if (const Call& call = calls_.find(msg_id)->second;
        call.engine == engine && !journal_->is_finished(MessageId{msg_id}))
      all.push_back({.msg_id = MessageId{msg_id},
                     .engine = engine,
                     .request = call.request,
                     .outputs = {},
                     .error_name = "EngineError",
                     .error_value = missing(engine)});
  engine_left(engine);
  return all;
}

// ---------------------------------------------------------------- what is told

void CallJournal::requested(const SharedFrames& frames) {
  const Result<Envelope> envelope = Envelope::locate(*frames, 2);
  if (!envelope || envelope->ident_count != 2 || total_bytes(*frames) > longest) return;
  const Packer packer = session_.packer();
  if (!is_call(packed_text(packer, envelope->header, "msg_type").value_or(""))) return;
  const MessageId msg_id = read_msg_id(packer, envelope->header);
  if (msg_id.empty() || is_full()) return;
  if (const auto known = calls_.find(msg_id.text); known != calls_.end() && known->second.request)
    return;
  if (!session_.signer().verify(*envelope)) return;
  journal_->submitted(msg_id, *frames);
  open(msg_id, total_bytes(*frames) <= small_request ? compacted(*frames) : frames);
}

/// The controller writes the msg_id of the broadcast into each copy.
CallChannel CallJournal::channel_of(std::string_view metadata) const {
  return packed_text(session_.packer(), metadata, "original_msg_id") ? CallChannel::broadcast
                                                                     : CallChannel::mux;
}

void CallJournal::open(const MessageId& msg_id, SharedFrames request) {
  Call& call = calls_[msg_id.text];
  call.order = ++last_order_;
  call.engine = EngineUuid{request->at(1)};
  call.channel = channel_of(Envelope::locate(*request, 2)->metadata);
  call.request = std::move(request);
  owed_.emplace(call.order, msg_id.text);
  owed_bytes_ += total_bytes(*call.request);
}

bool CallJournal::is_full() const {
  return owed_.size() >= most_owed || owed_bytes_ >= most_owed_bytes_;
}

/// It is owed no longer.
void CallJournal::settle(const Call& call) {
  owed_bytes_ -= total_bytes(*call.request);
  owed_.erase(call.order);
}

void CallJournal::replied(const SharedFrames& frames) {
  const Result<Envelope> envelope = Envelope::locate(*frames, 2);
  if (!envelope) return;
  const Packer packer = session_.packer();
  const auto found = calls_.find(read_msg_id(packer, envelope->parent_header).text);
  if (found == calls_.end() || !found->second.request) return;
  Call& call = found->second;
  if (call.engine.text != frames->at(0) || !session_.signer().verify(*envelope)) return;
  // What an engine was asked for again is written already, with what it printed.
  if (!journal_->is_finished(MessageId{found->first})) {
    const bool is_long = total_bytes(*frames) > longest - longest_output;
    call.outcome = is_long ? TaskOutcome::ok : read_task_outcome(packer, envelope->metadata);
    if (!is_long) call.reply = frames;
    write_end(found->first, call);
  }
  keep_for_late_output(found);
}

void CallJournal::write_end(const std::string& msg_id, const Call& call) {
  std::vector<SharedFrames> messages = call.outputs;
  if (call.reply) messages.insert(messages.begin(), call.reply);
  journal_->finished(MessageId{msg_id}, call.engine, call.outcome,
                     messages.empty() ? nullptr : joined(std::move(messages)));
}

void CallJournal::keep_for_late_output(Calls::iterator found) {
  Call& call = found->second;
  settle(call);
  call.request = nullptr;
  if (!call.reply || total_bytes(*call.reply) > longest_kept_reply) {
    calls_.erase(found);
    return;
  }
  call.reply = compacted(*call.reply);
  answered_.push_back(found->first);
  if (answered_.size() <= latest_answered) return;
  // One that was asked for again meanwhile is owed, and stays.
  if (const auto oldest = calls_.find(answered_.front());
      oldest != calls_.end() && !oldest->second.request)
    calls_.erase(oldest);
  answered_.pop_front();
}

void CallJournal::published(const SharedFrames& frames, const Envelope& envelope) {
  if (calls_.empty()) return;
  const auto found =
      calls_.find(read_msg_id(session_.packer(), envelope.parent_header).text);
  if (found == calls_.end()) return;
  Call& call = found->second;
  const std::size_t bytes = total_bytes(*frames);
  if (call.output_bytes + bytes > longest_output) return;
  call.output_bytes += bytes;
  call.outputs.push_back(compacted(*frames));
  if (call.reply) printed_late_.insert(found->first);
}

void CallJournal::engine_left(const EngineUuid& engine) {
  for (auto owed = owed_.begin(); owed != owed_.end();) {
    const auto found = calls_.find(owed->second);
    ++owed;
    if (found->second.engine != engine) continue;
    found->second.outcome = TaskOutcome::failed;
    // One whose client asked for it again, as its reply was lost on its way, has its answer.
    if (!journal_->is_finished(MessageId{found->first})) write_end(found->first, found->second);
    settle(found->second);
    calls_.erase(found);
  }
}

bool CallJournal::is_owed(const Frames& request) const {
  const Result<Envelope> envelope = Envelope::locate(request, 2);
  if (!envelope) return false;
  const auto found = calls_.find(read_msg_id(session_.packer(), envelope->header).text);
  return found != calls_.end() && found->second.request;
}

bool CallJournal::is_answered(const Frames& request) const {
  const Result<Envelope> envelope = Envelope::locate(request, 2);
  return envelope && journal_->is_finished(read_msg_id(session_.packer(), envelope->header));
}

std::vector<SharedFrames> CallJournal::owed_by(const EngineUuid& engine,
                                               CallChannel channel) const {
  std::vector<SharedFrames> requests;
  for (const auto& [order, msg_id] : owed_)
    if (const Call& call = calls_.find(msg_id)->second;
        call.engine == engine && call.channel == channel)
      requests.push_back(call.request);
  return requests;
}

Result<Journal::Ticket> CallJournal::commit_late() {
  for (const std::string& msg_id : std::exchange(printed_late_, {}))
    if (const auto found = calls_.find(msg_id); found != calls_.end() && found->second.reply)
      write_end(msg_id, found->second);
  return commit();
}

}  // namespace px::controller
