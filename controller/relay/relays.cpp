#include "controller/relay/relays.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "controller/relay/stand_in_reply.hpp"
#include "controller/scheduler/task_request.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// From one try to send what no engine took to the next.
constexpr Duration between_deals = std::chrono::milliseconds(5);

std::string msg_type_of(Packer packer, std::string_view header) {
  if (packer == Packer::json) {
    const auto raw = find_member(header, "msg_type");
    return raw ? unquote(*raw).value_or("") : "";
  }
  const Result<Header> read = read_header(packer, header);
  return read ? read->msg_type : "";
}

}  // namespace

OutputRelay::OutputRelay(RelayContext& shared, net::Socket& engines, OutputPublisher& clients,
                         std::function<void(const EngineUuid&)> on_shutdown, CallKeeper& calls)
    : shared_(shared),
      engines_(engines),
      clients_(clients),
      on_shutdown_(std::move(on_shutdown)),
      calls_(calls) {}

void OutputRelay::receive() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.receive();
    if (!frames) return;
    const Result<Envelope> envelope = Envelope::locate(*frames, 1);
    const std::string type = envelope ? msg_type_of(shared_.packer(), envelope->header) : "";
    clients_.publish(*frames, type == "status" ? Publication::state : Publication::output);
    if (envelope)
      record(frames, *envelope, type);
    else
      shared_.bad_messages.add("iopub: not a message", envelope.error().what);
  }
}

void OutputRelay::record(const SharedFrames& frames, const Envelope& envelope,
                         std::string_view type) {
  // Every task has two of these; there is nothing in them to remember.
  if (type == "status" || type == "iopub_welcome") return;
  if (type == "shutdown_reply" && shared_.signer().verify(envelope)) {
    if (const Result<Header> header = read_header(shared_.packer(), envelope.header))
      on_shutdown_(EngineUuid{header->session.text});
    return;
  }
  calls_.published(frames, envelope);
  shared_.hub.post(OutputPublished{frames});
}

PureTaskRelay::PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines,
                             std::size_t most_bytes)
    : shared_(shared), client_(client), engines_(engines), most_bytes_(most_bytes) {}

void PureTaskRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    shared_.hub.post(TaskSubmitted{read_msg_id(shared_.packer(), envelope->header), frames});
    if (!held_.empty() || !try_send(*frames)) hold(frames, *envelope);
  }
}

void PureTaskRelay::hold(const SharedFrames& frames, const Envelope& envelope) {
  const std::size_t bytes = total_bytes(*frames);
  if (held_bytes_ + bytes <= most_bytes_) {
    held_bytes_ += bytes;
    held_.push_back(frames);
    return;
  }
  const Problem problem{"Overloaded",
                        std::to_string(held_bytes_ >> 20) +
                            " MiB of tasks wait for the first engine; start engines, or give the "
                            "controller more memory"};
  client_.send(refusal(shared_.session, *frames, envelope, "apply_reply", problem));
}

bool PureTaskRelay::try_send(const Frames& frames) {
  return engines_.forward(std::span<const std::string_view>{}, frames, 0);
}

void PureTaskRelay::on_time(Instant now) {
  if (held_.empty() || now < next_try_) return;
  for (; !held_.empty() && try_send(*held_.front()); held_.pop_front())
    held_bytes_ -= total_bytes(*held_.front());
  next_try_ = now + between_deals;
}

std::optional<Instant> PureTaskRelay::next_deadline() const {
  return held_.empty() ? std::nullopt : std::optional(next_try_);
}

void PureTaskRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task reply");
    if (!envelope) continue;
    client_.forward(std::span<const std::string_view>{}, *frames, 0);
    const Result<Header> header = read_header(shared_.packer(), envelope->header);
    shared_.hub.post(TaskFinished{
        EngineUuid{header ? header->session.text : std::string()},
        read_msg_id(shared_.packer(), envelope->parent_header), frames,
        read_task_outcome(shared_.packer(), envelope->metadata) == TaskOutcome::aborted});
  }
}

BroadcastDesk::BroadcastDesk(RelayContext& shared, ClientLink& clients, EngineLink& engines,
                             CallKeeper& calls)
    : shared_(shared),
      relay_(shared.session.fork()),
      clients_(clients),
      engines_(engines),
      calls_(calls),
      requests_(
          calls, [this](const Request& request) { ask(request.copy); },
          [this](DirectSubmitted call) { shared_.hub.post(std::move(call)); }),
      replies_(calls, [this](const SharedFrames& frames) { pass_reply(frames); }),
      ends_(calls, [this](const BroadcastToClient& message) { send(message); }) {
  engines_.on_undelivered([this](const MessageToEngine& message, const Problem& problem) {
    answer_in_place(as_call(message), problem);
  });
}

void BroadcastDesk::receive_requests() {
  std::vector<Request> requests;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = clients_.socket().receive();
    if (!frames) break;
    std::vector<Request> copies = without_refused(copies_of(frames));
    tell_of(copies);
    std::move(copies.begin(), copies.end(), std::back_inserter(requests));
  }
  requests_.pass_on(std::move(requests));
}

std::vector<BroadcastDesk::Request> BroadcastDesk::copies_of(const SharedFrames& frames) {
  const auto envelope = shared_.open(*frames, 1, "broadcast");
  if (!envelope) return {};
  Result<std::vector<MessageToEngine>> copies = relay_.request(frames, *envelope);
  if (!copies) {
    refuse(frames, *envelope, copies.error().what);
    return {};
  }
  std::vector<Request> requests;
  for (MessageToEngine& copy : *copies) {
    SharedFrames call = as_call(copy);
    requests.push_back({std::move(copy), std::move(call)});
  }
  return requests;
}

/// Of one request. The others are answered here.
std::vector<BroadcastDesk::Request> BroadcastDesk::without_refused(std::vector<Request> copies) {
  std::vector<Request> rest;
  for (Request& request : copies) {
    const auto overload = engines_.overload(request.copy.engine.text);
    if (!overload) {
      rest.push_back(std::move(request));
      continue;
    }
    shared_.hub.post(calls_.submitted(request.call));
    answer_in_place(request.call, *overload);
  }
  return rest;
}

/// call  an engine's copy.
void BroadcastDesk::answer_in_place(const SharedFrames& call, const Problem& problem) {
  const SharedFrames reply = reply_in_place(shared_.session, *call, problem);
  if (!reply) return;
  calls_.replied(reply);
  pass_reply(reply, true);
}

/// A whole request, which names no engines.
void BroadcastDesk::refuse(const SharedFrames& frames, const Envelope& envelope,
                           const std::string& why) {
  shared_.bad_messages.add("broadcast: a bad request", why);
  const std::string type = read_message_name(shared_.packer(), envelope.header).msg_type;
  auto reply =
      refusal(shared_.session, *frames, envelope, stand_in_reply_type(type), {"ValueError", why});
  clients_.answer(std::array{frames->at(0)}, std::make_shared<TextFrames>(std::move(reply)), 1,
                  Clock::now());
}

void BroadcastDesk::tell_of(const std::vector<Request>& copies) {
  for (const Request& request : copies)
    if (!engines_.has_member(request.copy.engine.text))
      calls_.await(request.copy.engine, Clock::now());
  if (!calls_.has_journal()) return;
  std::size_t bytes = 0;
  for (const Request& request : copies) bytes += total_bytes(*request.call);
  if (bytes > CallJournal::longest_broadcast) return;
  for (const Request& request : copies)
    calls_.requested(shared_.memory.whole(request.call, shared_.packer()));
}

void BroadcastDesk::ask(const MessageToEngine& copy) {
  const std::vector<std::string_view> head{copy.head.begin(), copy.head.end()};
  engines_.send(copy.engine.text, head, copy.runs, Clock::now());
}

void BroadcastDesk::receive_replies() {
  std::vector<SharedFrames> replies;  // to be written down together
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.socket().receive();
    if (!frames) break;
    if (!shared_.open(*frames, 2, "broadcast reply")) continue;
    // Its client removes what it names.
    replies.push_back(shared_.memory.whole(frames, shared_.packer()));
    calls_.replied(replies.back());
  }
  replies_.pass_on(std::move(replies));
}

void BroadcastDesk::pass_reply(const SharedFrames& frames, bool ends_call) {
  const Result<Envelope> envelope = Envelope::locate(*frames, 2);
  check(envelope.has_value());
  for (const BroadcastToClient& message : relay_.reply(frames, *envelope, ends_call)) send(message);
  shared_.hub.post(DirectFinished{EngineUuid{frames->at(0)}, frames});
}

void BroadcastDesk::engine_left(const EngineUuid& engine, const EngineEnd& end) {
  engines_.forget(engine.text);
  ends_.pass_on(relay_.engine_left(engine, wall_now(), end));
}

void BroadcastDesk::restore(const std::vector<LeftCall>& left) {
  relay_.restore(left, wall_now());
}

void BroadcastDesk::ask_again(const EngineUuid& engine) {
  std::vector<Request> requests;
  for (const SharedFrames& call : calls_.owed_by(engine, CallChannel::broadcast))
    requests.push_back(
        {{engine, {std::string(call->at(0))}, {FrameRun{call, 2, call->size()}}}, call});
  requests_.pass_again(std::move(requests));
}

void BroadcastDesk::on_journal() {
  requests_.on_journal();
  replies_.on_journal();
  ends_.on_journal();
}

void BroadcastDesk::send(const BroadcastToClient& message) {
  const std::vector<std::string_view> head{message.head.begin(), message.head.end()};
  std::vector<FrameRun> runs = message.runs;
  for (FrameRun& run : runs) run.frames = SharedMemoryDesk::as_it_came(run.frames);
  if (!clients_.reply(head, runs, Clock::now())) return;
  for (const FrameRun& run : message.runs) shared_.memory.drop(run.frames);
}

}  // namespace px::controller
