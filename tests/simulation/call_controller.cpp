#include "tests/simulation/call_controller.hpp"

#include <algorithm>
#include <utility>

#include "controller/hub/task_record.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::BroadcastToClient;
using controller::CallJournal;
using controller::DirectFinished;
using controller::DirectSubmitted;
using controller::Journal;
using controller::LeftCall;

constexpr Duration patience = 30s;

SharedFrames joined(const BroadcastToClient& message) {
  std::vector<std::string> frames = message.head;
  for (const controller::FrameRun& run : message.runs)
    for (std::size_t i = run.from; i < run.to; ++i) frames.emplace_back(run.frames->at(i));
  return std::make_shared<TextFrames>(std::move(frames));
}

/// The call that a reply, [engine, client, delimiter, ...], answers.
std::string id_of_request(const Frames& reply) {
  return read_msg_id(Packer::json, Envelope::locate(reply, 2)->parent_header).text;
}

}  // namespace

EngineId id_of(const EngineUuid& engine) {
  return EngineId{std::stoi(engine.text.substr(std::string_view("engine").size()))};
}

CallController::CallController(World& world, const Setting& setting, Session session,
                               std::shared_ptr<SimulatedDisk> disk, CallSurroundings& surroundings)
    : world_(world),
      setting_(setting),
      session_(std::move(session)),
      disk_(std::move(disk)),
      surroundings_(surroundings),
      store_(new controller::MemoryStore),
      hub_(session_.fork(), std::unique_ptr<controller::TaskStore>(store_)),
      ledger_(make_journal(), session_.fork(), patience, *this) {}

std::unique_ptr<CallJournal> CallController::make_journal() {
  if (!disk_) return nullptr;
  std::unique_ptr<controller::JournalSync> syncs;
  if (setting_.journal == controller::JournalMode::power)
    syncs = std::make_unique<SimulatedSync>(world_, disk_, [this] { ledger_.on_journal(); });
  controller::JournalOptions options{.mode = setting_.journal, .cluster = "ours"};
  options.limits = CallJournal::limits();
  options.limits.segment_bytes = 6000;
  options.longest = CallJournal::longest;
  return std::make_unique<CallJournal>(std::make_unique<Journal>(disk_, options, std::move(syncs)),
                                       session_.fork());
}

// ---------------------------------------------------------------- what happens

std::vector<LeftCall> CallController::restore() {
  if (has(Defect::journal_is_not_read)) return {};
  asks_again_ = true;
  std::vector<LeftCall> left = ledger_.restore(world_.now());
  asks_again_ = false;
  world_.tell("the journal has " + std::to_string(left.size()) + " calls");
  turn_ends();
  return left;
}

void CallController::take_request(CallChannel channel, const SharedFrames& frames) {
  takes_unwritten_ = is_disk_refusing();
  if (channel == CallChannel::mux) {
    ledger_.requested(frames, world_.now());
  } else {
    const Envelope envelope = *Envelope::locate(*frames, 1);
    broadcasts_.insert(read_msg_id(Packer::json, envelope.header).text);
    check(ledger_.broadcast(frames, envelope, world_.now()).has_value());
  }
  ledger_.commit();
  takes_unwritten_ = false;
  turn_ends();
}

void CallController::take_reply(CallChannel channel, const SharedFrames& frames) {
  note_unwritten(*frames, true);
  ledger_.replied(channel, frames);
  ledger_.commit();
  turn_ends();
}

void CallController::undelivered(CallChannel channel, const SharedFrames& request) {
  note_unwritten(*request, false);
  ledger_.undelivered(channel, request, {"EngineError", "the engine is not there"});
  turn_ends();
}

void CallController::take_output(const SharedFrames& frames) {
  ledger_.published(frames, *Envelope::locate(*frames, 1));
  record(controller::OutputPublished{frames});
  turn_ends();
}

void CallController::engine_joined(const EngineUuid& engine) {
  if (members_.insert(engine).second) record(controller::EngineJoined{id_of(engine), engine});
  asks_again_ = true;
  ledger_.engine_joined(engine);
  asks_again_ = false;
  turn_ends();
}

void CallController::engine_reconnected(const EngineUuid& engine, CallChannel channel) {
  asks_again_ = true;
  ledger_.engine_reconnected(engine, channel);
  asks_again_ = false;
  turn_ends();
}

void CallController::engine_left(const EngineUuid& engine) {
  if (members_.erase(engine) == 0) return;
  const EngineEnd end{engine.text, "it died", true};
  record(controller::EngineLeft{engine, end});
  note_unwritten_end(engine);
  ledger_.engine_left(engine, end);
  turn_ends();
}

/// As Server::run() ends each turn.
void CallController::turn_ends() {
  const auto due = ledger_.next_deadline();
  const bool is_due = due && *due <= world_.now();
  const bool is_skipped =
      is_due ? has(Defect::missing_engines_are_awaited) : has(Defect::late_output_is_not_written);
  if (!is_skipped) {
    for (const auto& [engine, until] : ledger_.awaited())
      if (until <= world_.now()) note_unwritten_end(engine);
    ledger_.on_time(world_.now());
  }
  look_later();
}

// ---------------------------------------------------------------- what the disk does not take

/// Only before the disk is asked is it known whether it takes something.
bool CallController::is_disk_refusing() {
  if (!disk_) return false;
  has_failed_ = has_failed_ || disk_->is_broken();
  return has_failed_ || disk_->is_full();
}

void CallController::note_unwritten(const Frames& frames, bool is_reply) {
  if (!is_disk_refusing()) return;
  const Envelope envelope = *Envelope::locate(frames, 2);
  surroundings_.unwritten(
      read_msg_id(session_.packer(), is_reply ? envelope.parent_header : envelope.header).text);
}

/// That what it owes will not come.
void CallController::note_unwritten_end(const EngineUuid& engine) {
  if (!is_disk_refusing()) return;
  for (const CallChannel channel : {CallChannel::mux, CallChannel::broadcast})
    for (const SharedFrames& request : ledger_.owed_by(engine, channel))
      note_unwritten(*request, false);
}

// ---------------------------------------------------------------- what the ledger does

void CallController::ask(CallChannel channel, const SharedFrames& call) {
  if (asks_again_ && has(Defect::owed_is_not_asked_for)) return;
  surroundings_.ask(EngineUuid{call->at(1)}, channel, call);
}

void CallController::answer(const SharedFrames& reply) {
  std::vector<std::string> frames{std::string(reply->at(1))};
  for (std::size_t i = 2; i < reply->size(); ++i) frames.emplace_back(reply->at(i));
  surroundings_.answer(CallChannel::mux, std::make_shared<TextFrames>(std::move(frames)));
}

void CallController::answer(const BroadcastToClient& message) {
  const SharedFrames reply = joined(message);
  const auto gathered =
      packed_text(Packer::json, Envelope::locate(*reply, 1)->metadata, "original_msg_id");
  if (has(Defect::gathered_is_forgotten) && gathered && !broadcasts_.contains(*gathered)) return;
  surroundings_.answer(CallChannel::broadcast, reply);
}

void CallController::record(controller::HubEvent event) {
  if (const auto* submitted = std::get_if<DirectSubmitted>(&event); submitted && takes_unwritten_)
    note_unwritten(*submitted->frames, false);
  if (const auto* finished = std::get_if<DirectFinished>(&event))
    surroundings_.written(id_of_request(*finished->frames));
  hub_.on(event, wall(), world_.now());
}

// ---------------------------------------------------------------- time

void CallController::look_later() {
  Instant next = Instant::max();
  for (const auto& due : {ledger_.next_deadline(), hub_.next_deadline()})
    if (due && *due > world_.now()) next = std::min(next, *due);
  if (next >= next_look_ || next == Instant::max()) return;
  next_look_ = next;
  world_.at(next, [this, lives = lives_, next] {
    if (!*lives || next_look_ != next) return;
    next_look_ = Instant::max();
    hub_.on_time(wall(), world_.now());
    turn_ends();
  });
}

std::optional<EngineUuid> CallController::awaited() const {
  if (ledger_.awaited().empty()) return std::nullopt;
  return ledger_.awaited().begin()->first;
}

std::optional<std::string> CallController::unrest() const {
  if (ledger_.open_broadcasts() > 0) return "broadcasts are still gathered";
  if (const std::size_t owed = ledger_.owed(); owed > 0)
    return std::to_string(owed) + " calls are still owed";
  return std::nullopt;
}

std::optional<CallController::Record> CallController::record_of(const std::string& msg_id) const {
  std::optional<Record> found;
  store_->find(MessageId{msg_id}, [&](const controller::TaskRecord& record) {
    if (!record.result.has_value()) return;
    const Packer packer = record.result.packer();
    found = Record{packed_text(packer, record.result.content(), "status").value_or(""),
                   packed_text(packer, record.result.content(), "ran_on").value_or(""),
                   record.output ? record.output->stdout_text : ""};
  });
  return found;
}

}  // namespace px::simulation
