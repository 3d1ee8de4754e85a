#include "controller/relay/direct_relay.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <string>
#include <utility>

namespace px::controller {
namespace {

/// Two routing frames, delimiter, signature, four parts.
constexpr std::size_t fewest_frames = 8;

}  // namespace

DirectRelay::DirectRelay(RelayContext& shared, ClientLink& client, EngineLink& engines,
                         bool is_recorded, std::string_view name,
                         std::unique_ptr<CallJournal> calls)
    : shared_(shared),
      client_(client),
      engines_(engines),
      is_recorded_(is_recorded),
      name_(name),
      calls_(std::move(calls)) {}

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
    if (!calls_) {
      pass_request(frames);
      continue;
    }
    calls_->requested(shared_.memory.whole(frames, shared_.packer()));
    requests.push_back(std::move(frames));
  }
  pass_on(std::move(requests), requests_, &DirectRelay::pass_request);
}

void DirectRelay::receive_replies() {
  std::vector<SharedFrames> replies;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    SharedFrames frames = receive(engines_.socket());
    if (!frames) break;
    // Its client removes what it names.
    if (is_recorded_) frames = shared_.memory.whole(frames, shared_.packer());
    if (!calls_) {
      pass_reply(frames);
      continue;
    }
    calls_->replied(frames);
    replies.push_back(std::move(frames));
  }
  pass_on(std::move(replies), replies_, &DirectRelay::pass_reply);
}

/// What was told is written first. A disk that is full does not stop calls: they do not outlive the
/// controller then, and the log says so.
void DirectRelay::pass_on(std::vector<SharedFrames> messages, std::deque<Held>& held, PassOn pass) {
  if (messages.empty()) return;
  const Result<Journal::Ticket> ticket = calls_->commit();
  tell_of_journal(ticket.has_value());
  if (ticket && !(held.empty() && calls_->is_durable(*ticket)))
    return held.push_back({*ticket, std::move(messages)});
  for (const SharedFrames& frames : messages) (this->*pass)(frames);
}

void DirectRelay::pass_request(const SharedFrames& frames) {
  const EngineUuid engine{frames->at(1)};
  ask(engine, frames);
  if (is_recorded_) shared_.hub.post(DirectSubmitted{engine, frames});
}

void DirectRelay::ask(const EngineUuid& engine, const SharedFrames& request) {
  const std::array client{request->at(0)};
  engines_.send(engine.text, client, request, 2, Clock::now());
}

void DirectRelay::pass_reply(const SharedFrames& frames) {
  const std::array idents{frames->at(1), frames->at(0)};
  const SharedFrames came = SharedMemoryDesk::as_it_came(frames);
  const bool is_lost = client_.reply(idents, *came, Clock::now());
  if (!is_recorded_) return;
  if (is_lost) shared_.memory.drop(frames);
  shared_.hub.post(DirectFinished{EngineUuid{frames->at(0)}, frames});
}

// ---------------------------------------------------------------- the journal

void DirectRelay::restore(Duration patience) {
  if (!calls_) return;
  const std::vector<LeftCall> left = calls_->replay();
  for (const LeftCall& call : left) record(call);
  if (!left.empty())
    spdlog::info("{} direct calls are taken over from an earlier controller", left.size());
  for (const EngineUuid& engine : std::set<EngineUuid>(calls_->awaited()))
    if (engines_.has_member(engine.text)) engine_returned(engine);
  if (!calls_->awaited().empty()) give_up_ = Clock::now() + patience;
}

void DirectRelay::record(const LeftCall& call) {
  shared_.hub.post(DirectRestored{call.msg_id, call.engine, call.request, call.reply,
                                  call.error_name, call.error_value});
  for (const SharedFrames& output : call.outputs) shared_.hub.post(OutputPublished{output});
}

void DirectRelay::engine_returned(const EngineUuid& engine) {
  if (!calls_) return;
  calls_->engine_returned(engine);
  for (const SharedFrames& request : calls_->owed_by(engine)) {
    ask(engine, request);
    shared_.hub.post(DirectSubmitted{engine, request});
  }
}

void DirectRelay::engine_left(const EngineUuid& engine) {
  engines_.forget(engine.text);
  if (calls_) calls_->engine_left(engine);
}

void DirectRelay::published(const SharedFrames& frames, const Envelope& envelope) {
  if (calls_) calls_->published(frames, envelope);
}

void DirectRelay::on_time(Instant now) {
  if (!calls_) return;
  if (give_up_ && now >= *give_up_) {
    give_up_.reset();
    for (const LeftCall& call : calls_->give_up_awaited()) record(call);
  }
  tell_of_journal(calls_->commit_late().has_value());
  for (const std::string& error : calls_->take_errors())
    spdlog::error("the journal of direct calls: {}", error);
}

/// Once when it begins and once when it is over.
void DirectRelay::tell_of_journal(bool is_written) {
  if (is_journal_refused_ != is_written) return;
  is_journal_refused_ = !is_written;
  if (is_written)
    spdlog::warn("direct calls are written down again");
  else
    spdlog::error(
        "direct calls do not outlive this controller, as they cannot be written down: the disk is "
        "full, or fails; make room there");
}

void DirectRelay::on_journal() {
  if (!calls_) return;
  for (auto [held, pass] : {std::pair{&requests_, &DirectRelay::pass_request},
                            std::pair{&replies_, &DirectRelay::pass_reply}})
    while (!held->empty() &&
           (calls_->has_failed() || calls_->is_durable(held->front().ticket))) {
      const Held due = std::move(held->front());
      held->pop_front();
      for (const SharedFrames& frames : due.messages) (this->*pass)(frames);
    }
}

std::optional<Instant> DirectRelay::next_deadline() const {
  return give_up_;
}

}  // namespace px::controller
