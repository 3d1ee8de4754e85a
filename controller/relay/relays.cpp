#include "controller/relay/relays.hpp"

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "controller/scheduler/task_request.hpp"
#include "wire/header.hpp"
#include "wire/json_scan.hpp"

namespace px::controller {
namespace {

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
                         std::function<void(const EngineUuid&)> on_shutdown, DirectRelay& calls)
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

PureTaskRelay::PureTaskRelay(RelayContext& shared, net::Socket& client, net::Socket& engines)
    : shared_(shared), client_(client), engines_(engines) {}

void PureTaskRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    shared_.hub.post(TaskSubmitted{read_msg_id(shared_.packer(), envelope->header), frames});
    if (!held_.empty() || !try_send(*frames)) held_.push_back(frames);
  }
}

bool PureTaskRelay::try_send(const Frames& frames) {
  return engines_.forward(std::span<const std::string_view>{}, frames, 0);
}

void PureTaskRelay::on_time(Instant now) {
  if (held_.empty() || now < next_try_) return;
  while (!held_.empty() && try_send(*held_.front())) held_.pop_front();
  next_try_ = now + between_tries;
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

BroadcastDesk::BroadcastDesk(RelayContext& shared, net::Socket& client, EngineLink& engines)
    : shared_(shared), relay_(shared.session.fork()), client_(client), engines_(engines) {}

void BroadcastDesk::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "broadcast");
    if (!envelope) continue;
    Result<BroadcastEffects> effects = relay_.request(frames, *envelope);
    if (effects)
      perform(std::move(*effects));
    else
      shared_.bad_messages.add("broadcast: a bad request", effects.error().what);
  }
}

void BroadcastDesk::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = engines_.socket().receive();
    if (!frames) return;
    if (const auto envelope = shared_.open(*frames, 2, "broadcast reply"))
      perform(relay_.reply(frames, *envelope));
  }
}

void BroadcastDesk::engine_left(const EngineUuid& engine, const EngineEnd& end) {
  engines_.forget(engine.text);
  perform(relay_.engine_left(engine, wall_now(), end));
}

void BroadcastDesk::perform(BroadcastEffects effects) {
  for (BroadcastEffect& effect : effects) std::visit([this](auto& e) { (*this)(e); }, effect);
}

void BroadcastDesk::operator()(BroadcastToEngine& effect) {
  const std::vector<std::string_view> head{effect.head.begin(), effect.head.end()};
  engines_.send(effect.engine.text, head, std::move(effect.runs), Clock::now());
}

void BroadcastDesk::operator()(BroadcastToClient& effect) {
  const std::vector<std::string_view> head{effect.head.begin(), effect.head.end()};
  std::vector<net::Socket::Run> runs;
  for (const FrameRun& run : effect.runs) runs.push_back({run.frames.get(), run.from, run.to});
  client_.forward(head, runs);
}

}  // namespace px::controller
