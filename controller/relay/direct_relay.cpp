#include "controller/relay/direct_relay.hpp"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "controller/relay/stand_in_reply.hpp"
#include "wire/header.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// Two routing frames, delimiter, signature, four parts.
constexpr std::size_t fewest_frames = 8;

}  // namespace

DirectRelay::DirectRelay(RelayContext& shared, ClientLink& client, EngineLink& engines,
                         std::string_view name, CallKeeper* calls)
    : shared_(shared), client_(client), engines_(engines), name_(name), calls_(calls) {
  engines_.on_undelivered([this](const MessageToEngine& message, const Problem& problem) {
    answer_in_place(as_call(message), problem);
  });
  if (!calls_ || !calls_->has_journal()) return;
  requests_.emplace(
      *calls_, [this](const SharedFrames& frames) { ask(frames); },
      [this](DirectSubmitted call) { shared_.hub.post(std::move(call)); });
  replies_.emplace(*calls_, [this](const SharedFrames& frames) { pass_reply(frames); });
}

/// The next message that is one; null: there is none.
SharedFrames DirectRelay::receive(net::Socket& socket) {
  while (SharedFrames frames = socket.receive())
    if (is_well_formed(*frames)) return frames;
  return nullptr;
}

bool DirectRelay::is_well_formed(const Frames& frames) {
  if (frames.size() >= fewest_frames && frames.at(2) == delimiter) return true;
  shared_.bad_messages.add(std::string(name_) + ": not a message for or from an engine");
  return false;
}

void DirectRelay::receive_requests() {
  std::vector<SharedFrames> requests;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames frames = receive(client_.socket());
    if (!frames) break;
    if (const auto overload = engines_.overload(frames->at(1));
        overload && refuse(frames, *overload))
      continue;
    if (!requests_) {
      ask(frames);
      if (calls_) shared_.hub.post(calls_->submitted(frames));
      continue;
    }
    tell_of(frames);
    requests.push_back(std::move(frames));
  }
  if (requests_) requests_->pass_on(std::move(requests));
}

/// Precondition: there is a journal.
void DirectRelay::tell_of(const SharedFrames& request) {
  calls_->requested(shared_.memory.whole(request, shared_.packer()));
  if (!engines_.has_member(request->at(1)))
    calls_->await(EngineUuid{request->at(1)}, Clock::now());
}

void DirectRelay::receive_replies() {
  std::vector<SharedFrames> replies;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames frames = receive(engines_.socket());
    if (!frames) break;
    // Its client removes what it names.
    if (calls_) frames = shared_.memory.whole(frames, shared_.packer());
    if (!replies_) {
      pass_reply(frames);
      continue;
    }
    calls_->replied(frames);
    replies.push_back(std::move(frames));
  }
  if (replies_) replies_->pass_on(std::move(replies));
}

void DirectRelay::ask(const SharedFrames& request) {
  const std::array client{request->at(0)};
  engines_.send(request->at(1), client, request, 2, Clock::now());
}

/// False where the engine is to get the request all the same, as that only asks for the answer to
/// an earlier one.
bool DirectRelay::refuse(const SharedFrames& request, const Problem& problem) {
  const Result<Envelope> envelope = Envelope::locate(*request, 2);
  if (!envelope) return false;
  if (read_message_name(shared_.packer(), envelope->header).msg_type == question_type) return false;
  if (calls_) shared_.hub.post(calls_->submitted(request));
  answer_in_place(request, problem);
  return true;
}

void DirectRelay::answer_in_place(const SharedFrames& request, const Problem& problem) {
  const SharedFrames reply = reply_in_place(shared_.session, *request, problem);
  if (!reply) return;
  if (calls_) calls_->replied(reply);
  pass_reply(reply);
}

void DirectRelay::pass_reply(const SharedFrames& frames) {
  const std::array idents{frames->at(1), frames->at(0)};
  const SharedFrames came = SharedMemoryDesk::as_it_came(frames);
  const bool is_lost = client_.reply(idents, came, 2, Clock::now());
  if (!calls_) return;
  if (is_lost) shared_.memory.drop(frames);
  shared_.hub.post(DirectFinished{EngineUuid{frames->at(0)}, frames});
}

void DirectRelay::ask_again(const EngineUuid& engine) {
  if (requests_) requests_->pass_again(calls_->owed_by(engine, CallChannel::mux));
}

void DirectRelay::engine_left(const EngineUuid& engine) {
  engines_.forget(engine.text);
}

void DirectRelay::on_journal() {
  if (requests_) requests_->on_journal();
  if (replies_) replies_->on_journal();
}

}  // namespace px::controller
