#include "controller/relay/call_relay.hpp"

#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {

CallRelay::CallRelay(RelayContext& shared, Channel mux, Channel broadcast,
                     std::unique_ptr<CallJournal> journal, Duration patience)
    : shared_(shared),
      mux_(mux),
      broadcast_(broadcast),
      ledger_(std::move(journal), shared.session.fork(), patience, *this) {
  for (const CallChannel channel : {CallChannel::mux, CallChannel::broadcast})
    of(channel).engines.on_undelivered(
        [this, channel](const SharedFrames& call, const Problem& problem) {
          ledger_.undelivered(channel, call, problem);
        });
}

// ---------------------------------------------------------------- what comes in

void CallRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames call = shared_.receive_routed(mux_.clients.socket(), "mux");
    if (!call) break;
    ledger_.requested(std::move(call), Clock::now());
  }
  ledger_.commit();
}

void CallRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames reply = shared_.receive_routed(mux_.engines.socket(), "mux");
    if (!reply) break;
    ledger_.replied(CallChannel::mux, std::move(reply));
  }
  ledger_.commit();
}

void CallRelay::receive_broadcasts() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames request = broadcast_.clients.socket().receive();
    if (!request) break;
    const auto envelope = shared_.open(*request, 1, "broadcast");
    if (!envelope) continue;
    if (const auto asked = ledger_.broadcast(request, *envelope, Clock::now()); !asked)
      refuse(request, *envelope, asked.error().what);
  }
  ledger_.commit();
}

void CallRelay::receive_broadcast_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames reply = broadcast_.engines.socket().receive();
    if (!reply) break;
    if (shared_.open(*reply, 2, "broadcast reply"))
      ledger_.replied(CallChannel::broadcast, std::move(reply));
  }
  ledger_.commit();
}

/// A whole request, which names no engines.
void CallRelay::refuse(const SharedFrames& request, const Envelope& envelope,
                       const std::string& why) {
  shared_.bad_messages.add("broadcast: a bad request", why);
  const std::string type = read_message_name(shared_.packer(), envelope.header).msg_type;
  auto reply =
      refusal(shared_.session, *request, envelope, stand_in_reply_type(type), {"ValueError", why});
  broadcast_.clients.answer(std::array{request->at(0)},
                            std::make_shared<TextFrames>(std::move(reply)), 1, Clock::now());
}

void CallRelay::engine_left(const EngineUuid& engine, const EngineEnd& end) {
  mux_.engines.forget(engine.text);
  broadcast_.engines.forget(engine.text);
  ledger_.engine_left(engine, end);
}

void CallRelay::on_time(Instant now) {
  // What says best why a call failed: it did not get to its engine.
  if (const auto due = ledger_.next_deadline(); due && *due <= now) {
    const std::map<EngineUuid, Instant> awaited = ledger_.awaited();
    for (const auto& [engine, until] : awaited)
      if (until <= now) broadcast_.engines.forget(engine.text);
  }
  ledger_.on_time(now);
}

// ---------------------------------------------------------------- what the ledger wants done

bool CallRelay::is_member(const EngineUuid& engine) const {
  return mux_.engines.has_member(engine.text);
}

std::optional<Problem> CallRelay::overload(CallChannel channel, const EngineUuid& engine) const {
  auto problem = of(channel).engines.overload(engine.text);
  if (problem) shared_.note_refusal(problem->name, problem->sentence);
  return problem;
}

SharedFrames CallRelay::whole(const SharedFrames& frames) const {
  return shared_.memory.whole(frames, shared_.packer());
}

void CallRelay::ask(CallChannel channel, const SharedFrames& call) {
  of(channel).engines.send(call->at(1), std::array{call->at(0)}, call, 2, Clock::now());
}

void CallRelay::answer(const SharedFrames& reply) {
  const SharedFrames came = SharedMemory::as_it_came(reply);
  if (mux_.clients.reply(std::array{reply->at(1), reply->at(0)}, came, 2, Clock::now()))
    shared_.memory.drop(reply);
}

void CallRelay::answer(const BroadcastToClient& message) {
  const std::vector<std::string_view> head{message.head.begin(), message.head.end()};
  std::vector<FrameRun> runs = message.runs;
  for (FrameRun& run : runs) run.frames = SharedMemory::as_it_came(run.frames);
  if (!broadcast_.clients.reply(head, runs, Clock::now())) return;
  for (const FrameRun& run : message.runs) shared_.memory.drop(run.frames);
}

}  // namespace px::controller
