#include "tests/simulation/call_controller.hpp"

#include <algorithm>
#include <utility>

#include "controller/hub/task_record.hpp"
#include "controller/relay/stand_in_reply.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::simulation {
namespace {

using namespace std::chrono_literals;
using controller::BroadcastToClient;
using controller::CallJournal;
using controller::DirectSubmitted;
using controller::Journal;
using controller::LeftCall;

constexpr Duration patience = 30s;

std::unique_ptr<CallJournal> make_journal(World& world, const Setting& setting, Session session,
                                          const std::shared_ptr<SimulatedDisk>& disk,
                                          std::function<void()> on_disk) {
  if (!disk) return nullptr;
  std::unique_ptr<controller::JournalSync> syncs;
  if (setting.journal == controller::JournalMode::power)
    syncs = std::make_unique<SimulatedSync>(world, disk, std::move(on_disk));
  controller::JournalOptions options{.mode = setting.journal, .cluster = "ours"};
  options.limits = CallJournal::limits();
  options.limits.segment_bytes = 6000;
  options.longest = CallJournal::longest;
  return std::make_unique<CallJournal>(
      std::make_unique<Journal>(disk, options, std::move(syncs)), std::move(session));
}

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
      calls_(make_journal(world, setting, session_.fork(), disk_,
                          [this] {
                            requests_.on_journal();
                            replies_.on_journal();
                            broadcasts_.on_journal();
                            broadcast_replies_.on_journal();
                            ends_.on_journal();
                          }),
             patience, [this](const LeftCall& call) { record(call); }),
      relay_(session_.fork()),
      requests_(
          calls_, [this](const SharedFrames& frames) { ask(CallChannel::mux, frames); },
          [this](const DirectSubmitted& call) { tell_hub(call); }),
      broadcasts_(
          calls_, [this](const SharedFrames& frames) { ask(CallChannel::broadcast, frames); },
          [this](const DirectSubmitted& call) { tell_hub(call); }),
      replies_(calls_, [this](const SharedFrames& frames) { pass_reply(frames); }),
      broadcast_replies_(calls_,
                         [this](const SharedFrames& frames) { pass_broadcast_reply(frames); }),
      ends_(calls_, [this](const BroadcastToClient& message) { send(message); }) {}

void CallController::tell_hub(const controller::HubEvent& event) {
  hub_.on(event, wall(), world_.now());
}

// ---------------------------------------------------------------- what an earlier one wrote

std::vector<LeftCall> CallController::restore() {
  if (has(Defect::journal_is_not_read)) return {};
  std::vector<LeftCall> left = calls_.restore(world_.now());
  if (!has(Defect::gathered_is_forgotten)) relay_.restore(left, wall());
  world_.tell("the journal has " + std::to_string(left.size()) + " calls");
  const std::map<EngineUuid, Instant> awaited = calls_.awaited();
  for (const auto& [engine, until] : awaited)
    if (members_.contains(engine)) engine_joined(engine);
  turn_ends();
  return left;
}

void CallController::record(const LeftCall& call) {
  tell_hub(controller::DirectRestored{call.msg_id, call.engine, call.request, call.reply,
                                      call.error_name, call.error_value});
  for (const SharedFrames& output : call.outputs) tell_hub(controller::OutputPublished{output});
}

void CallController::ask_again(const EngineUuid& engine, CallChannel channel) {
  if (has(Defect::owed_is_not_asked_for)) return;
  (channel == CallChannel::mux ? requests_ : broadcasts_)
      .pass_again(calls_.owed_by(engine, channel));
}

// ---------------------------------------------------------------- requests

void CallController::take_request(CallChannel channel, const SharedFrames& frames) {
  if (channel == CallChannel::mux) {
    note_unwritten(*frames, false);
    tell_of(frames);
    requests_.pass_on({frames});
  } else {
    const auto copies = relay_.request(frames, *Envelope::locate(*frames, 1));
    check(copies.has_value());
    std::vector<SharedFrames> all;
    for (const auto& copy : *copies) all.push_back(controller::as_call(copy));
    for (const SharedFrames& call : all) {
      note_unwritten(*call, false);
      tell_of(call);
    }
    broadcasts_.pass_on(std::move(all));
  }
  turn_ends();
}

void CallController::tell_of(const SharedFrames& request) {
  if (!has(Defect::calls_are_not_written)) calls_.requested(request);
  const EngineUuid engine{request->at(1)};
  if (!members_.contains(engine)) calls_.await(engine, world_.now());
}

void CallController::ask(CallChannel channel, const SharedFrames& request) {
  surroundings_.ask(EngineUuid{request->at(1)}, channel, request);
}

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
    for (const SharedFrames& request : calls_.owed_by(engine, channel))
      note_unwritten(*request, false);
}

// ---------------------------------------------------------------- replies

void CallController::take_reply(CallChannel channel, const SharedFrames& frames) {
  note_unwritten(*frames, true);
  const bool is_direct = channel == CallChannel::mux;
  if (has(Defect::replies_pass_before_written)) {
    if (is_direct)
      pass_reply(frames);
    else
      pass_broadcast_reply(frames);
    return turn_ends();
  }
  calls_.replied(frames);
  (is_direct ? replies_ : broadcast_replies_).pass_on({frames});
  turn_ends();
}

void CallController::pass_reply(const SharedFrames& frames) {
  std::vector<std::string> reply{std::string(frames->at(1))};
  for (std::size_t i = 2; i < frames->size(); ++i) reply.emplace_back(frames->at(i));
  surroundings_.written(id_of_request(*frames));
  surroundings_.answer(CallChannel::mux, std::make_shared<TextFrames>(std::move(reply)));
  tell_hub(controller::DirectFinished{EngineUuid{frames->at(0)}, frames});
}

void CallController::pass_broadcast_reply(const SharedFrames& frames) {
  surroundings_.written(id_of_request(*frames));
  for (const BroadcastToClient& message : relay_.reply(frames, *Envelope::locate(*frames, 2)))
    send(message);
  tell_hub(controller::DirectFinished{EngineUuid{frames->at(0)}, frames});
}

void CallController::send(const BroadcastToClient& message) {
  surroundings_.answer(CallChannel::broadcast, joined(message));
}

void CallController::undelivered(CallChannel channel, const SharedFrames& request) {
  take_reply(channel, controller::reply_in_place(session_, *request,
                                                 {"EngineError", "the engine is not there"}));
}

void CallController::take_output(const SharedFrames& frames) {
  calls_.published(frames, *Envelope::locate(*frames, 1));
  tell_hub(controller::OutputPublished{frames});
  turn_ends();
}

// ---------------------------------------------------------------- engines, time

void CallController::engine_joined(const EngineUuid& engine) {
  if (members_.insert(engine).second) tell_hub(controller::EngineJoined{id_of(engine), engine});
  calls_.engine_returned(engine);
  for (const CallChannel channel : {CallChannel::mux, CallChannel::broadcast})
    ask_again(engine, channel);
  turn_ends();
}

void CallController::engine_reconnected(const EngineUuid& engine, CallChannel channel) {
  ask_again(engine, channel);
  turn_ends();
}

void CallController::engine_left(const EngineUuid& engine) {
  if (members_.erase(engine) == 0) return;
  const EngineEnd end{engine.text, "it died", true};
  tell_hub(controller::EngineLeft{id_of(engine), engine, end});
  note_unwritten_end(engine);
  calls_.engine_left(engine);
  ends_.pass_on(relay_.engine_left(engine, wall(), end));
  turn_ends();
}

void CallController::turn_ends() {
  if (has(Defect::late_output_is_not_written)) {
    (void)calls_.commit();
  } else if (!has(Defect::missing_engines_are_awaited) || !calls_.next_deadline() ||
             *calls_.next_deadline() > world_.now()) {
    for (const auto& [engine, until] : calls_.awaited())
      if (until <= world_.now()) note_unwritten_end(engine);
    for (const EngineUuid& engine : calls_.on_time(world_.now()))
      ends_.pass_on(
          relay_.engine_left(engine, wall(), {engine.text, "it did not come back", true}));
  }
  look_later();
}

void CallController::look_later() {
  Instant next = Instant::max();
  for (const auto& due : {calls_.next_deadline(), hub_.next_deadline()})
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
  if (calls_.awaited().empty()) return std::nullopt;
  return calls_.awaited().begin()->first;
}

std::optional<std::string> CallController::unrest() const {
  if (relay_.open_calls() > 0) return "broadcasts are still gathered";
  if (const std::size_t owed = calls_.owed(); owed > 0)
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
