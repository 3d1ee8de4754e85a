#include "controller/relay/task_relay.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "wire/header.hpp"
#include "wire/json.hpp"
#include "wire/json_scan.hpp"
#include "wire/message_type.hpp"

namespace px::controller {
namespace {

/// The ident under which the hub's own tasks travel: engines echo it, nobody is called so.
constexpr std::string_view hub_ident = "hub";

/// After the start of a controller so much time passes until clients of an earlier one have all
/// their connections again. What is sent to them before that is lost.
constexpr Duration return_of_clients = std::chrono::seconds(2);

std::string_view client_of(const Frames& request, std::size_t delimiter_index) {
  return delimiter_index == 0 ? hub_ident : request.at(0);
}

std::string_view signature_of(const SharedFrames& request, std::size_t delimiter_index) {
  return request->at(delimiter_index + 1);
}

}  // namespace

TaskRelay::TaskRelay(RelayContext& shared, const TaskQueueOptions& options, RandomSource random,
                     ClientLink& client, EngineLink& engines, Stocktaking stock)
    : shared_(shared),
      queue_(options, std::move(random)),
      stock_(std::move(stock)),
      clients_are_back_(Clock::now() + return_of_clients),
      client_(client),
      engines_(engines) {}

void TaskRelay::receive_requests() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames frames = client_.socket().receive();
    if (!frames) return;
    const auto envelope = shared_.open(*frames, 1, "task");
    if (!envelope) continue;
    const bool is_repeat =
        !history_.is_new(envelope->signature) || replies_.was_answered(envelope->signature);
    if (is_repeat)
      answer_again(*frames, *envelope, envelope->signature);
    else if (stock_.is_done(Clock::now()))
      submit(frames, *envelope);
    else
      waiting_.push_back(frames);
  }
}

/// A client whose connection broke does not know whether its request came, nor whether the reply
/// was lost.
/// signature  of the request.
void TaskRelay::answer_again(const Frames& frames, const Envelope& envelope,
                             std::string_view signature) {
  if (const SharedFrames reply = replies_.find(signature)) {
    const Result<Envelope> parts = Envelope::locate(*reply);
    check(parts.has_value());
    const std::array client{frames.at(0)};
    client_.socket().forward(client, *reply, parts->delimiter_index());
  } else if (replies_.was_answered(signature)) {
    tell_lost(frames, envelope, "ResultLost",
              "it was done, and its reply was lost on its way: the controller keeps only short "
              "and recent replies to send them again; fetch it with get_result(msg_ids)");
  }  // else it waits or runs
}

/// A request that was too long for its client to keep comes as a question for its answer. Whether
/// that is settled here.
bool TaskRelay::answer_question(const Frames& frames, const Envelope& envelope,
                                const MessageId& msg_id, bool is_held) {
  const std::string signature =
      packed_text(shared_.packer(), envelope.content, "signature").value_or("");
  if (replies_.was_answered(signature))
    answer_again(frames, envelope, signature);
  else if (is_held)
    return false;
  else if (!queue_.knows(msg_id.text))
    tell_lost(frames, envelope, "ConnectionLost",
              "it was lost on its way to the controller, and is not sent again by itself, as it "
              "is longer than 1 MiB: send it again");
  return true;
}

void TaskRelay::tell_lost(const Frames& frames, const Envelope& envelope,
                          const std::string& error_name, const std::string& sentence) {
  Draft draft;
  draft.idents = {std::string(frames.at(0))};
  draft.msg_type = "apply_reply";
  draft.parent_header = std::string(envelope.header);
  draft.content = error_content(error_name, sentence, {error_name + ": " + sentence});
  client_.socket().send(shared_.session.compose(draft, wall_now()));
}

void TaskRelay::submit_waiting() {
  if (waiting_.empty() || !stock_.is_done(Clock::now())) return;
  for (const SharedFrames& frames : std::exchange(waiting_, {}))
    submit(frames, *Envelope::locate(*frames, 1));
}

void TaskRelay::resubmit(SharedFrames frames) {
  if (const auto envelope = shared_.open(*frames, 0, "hub")) submit(frames, *envelope);
}

void TaskRelay::submit(const SharedFrames& came, const Envelope& envelope) {
  MessageId msg_id = read_msg_id(shared_.packer(), envelope.header);
  if (msg_id.empty()) return shared_.bad_messages.add("task: a message without a msg_id");
  EngineUuid holder = stock_.take_holder(msg_id.text);
  const bool is_question =
      packed_text(shared_.packer(), envelope.header, "msg_type") == question_type;
  if (is_question && answer_question(*came, envelope, msg_id, !holder.empty())) return;
  const SharedFrames frames = shared_.memory.whole(came, shared_.packer());
  shared_.hub.post(TaskSubmitted{msg_id, frames});
  Result<TaskRules> rules = read_task_rules(shared_.packer(), envelope.metadata);
  if (!rules) return refuse(frames, envelope, std::move(msg_id), rules.error().what);
  perform(queue_.submit(
      {std::move(msg_id), frames, envelope.delimiter_index(), std::move(*rules), std::move(holder)},
      Clock::now()));
}

void TaskRelay::refuse(const SharedFrames& frames, const Envelope& envelope, MessageId msg_id,
                       const std::string& why) {
  FailTask failure{std::move(msg_id), {}, frames, envelope.delimiter_index(), "ValueError", why};
  (*this)(failure);
}

void TaskRelay::receive_replies() {
  for (int i = 0; i < messages_per_turn; ++i) {
    const SharedFrames came = engines_.socket().receive();
    if (!came) return;
    const auto envelope = shared_.open(*came, 2, "task reply");
    if (!envelope) continue;
    const SharedFrames frames = shared_.memory.whole(came, shared_.packer());
    const MessageId parent = read_msg_id(shared_.packer(), envelope->parent_header);
    const TaskOutcome outcome = read_task_outcome(shared_.packer(), envelope->metadata);
    if (!queue_.knows(parent.text)) unknown_.push_back(frames);
    perform(queue_.reply(frames->at(0), parent.text, outcome, frames, Clock::now()));
  }
}

/// Asked for by an earlier controller: whoever waits for it is still there, or is not.
void TaskRelay::forward_unknown() {
  if (unknown_.empty() || Clock::now() < clients_are_back_) return;
  for (const SharedFrames& frames : std::exchange(unknown_, {}))
    client_.reply(std::array{frames->at(1), frames->at(0)}, *SharedMemoryDesk::as_it_came(frames),
                  Clock::now());
}

void TaskRelay::engine_joined(const EngineUuid& engine) {
  perform(queue_.engine_joined(engine, Clock::now()));
  stock_.joined(engine);
  submit_waiting();
}

void TaskRelay::engine_holds(const EngineUuid& engine, const std::vector<std::string>& msg_ids) {
  stock_.reported(engine, msg_ids);
  submit_waiting();
}

void TaskRelay::on_time(Instant now) {
  perform(queue_.on_time(now));
  submit_waiting();
  forward_unknown();
}

std::optional<Instant> TaskRelay::next_deadline() const {
  std::optional<Instant> next = queue_.next_deadline();
  const auto consider = [&next](std::optional<Instant> other) {
    if (other && (!next || *other < *next)) next = other;
  };
  if (!waiting_.empty()) consider(stock_.deadline());
  if (!unknown_.empty()) consider(clients_are_back_);
  return next;
}

void TaskRelay::engine_left(const EngineUuid& engine, EngineEnd end) {
  engines_.forget(engine.text);
  stock_.left(engine);
  perform(queue_.engine_left(engine, Clock::now(), std::move(end)));
}

void TaskRelay::engine_silent(const EngineUuid& engine) {
  perform(queue_.engine_silent(engine, Clock::now()));
}

void TaskRelay::engine_returned(const EngineUuid& engine) {
  perform(queue_.engine_returned(engine, Clock::now()));
}

void TaskRelay::engine_reconnected(const EngineUuid& engine) {
  perform(queue_.engine_reconnected(engine, Clock::now()));
}

void TaskRelay::perform(TaskEffects effects) {
  for (TaskEffect& effect : effects) std::visit([this](auto& e) { (*this)(e); }, effect);
}

void TaskRelay::operator()(AssignTask& effect) {
  effect.request = shared_.memory.for_engine(effect.request, effect.engine.text);
  const std::array client{client_of(*effect.request, effect.delimiter_index)};
  if (effect.repetition > 0) {
    const Result<Envelope> envelope = Envelope::locate(*effect.request, 1);
    check(envelope.has_value());
    assign_again(effect, *envelope, client[0]);
  } else {
    engines_.send(effect.engine.text, client, effect.request, effect.delimiter_index, Clock::now());
  }
  if (!effect.is_resent)
    shared_.hub.post(TaskAssigned{std::move(effect.msg_id), std::move(effect.engine)});
}

/// The engine would drop a message that it saw before: one more key makes it another one.
void TaskRelay::assign_again(const AssignTask& effect, const Envelope& envelope,
                             std::string_view client) {
  Result<Json> header = unpack(shared_.packer(), envelope.header);
  if (!header) return shared_.bad_messages.add("task: a malformed header");
  (*header)["repetition"] = effect.repetition;
  const std::string packed = pack(shared_.packer(), *header);
  const std::string signature =
      shared_.signer().sign(packed, envelope.parent_header, envelope.metadata, envelope.content);
  const std::array<std::string_view, 4> head{client, delimiter, signature, packed};
  engines_.send(effect.engine.text, head, effect.request, effect.delimiter_index + 3, Clock::now());
}

void TaskRelay::operator()(DeliverReply& effect) {
  if (effect.delimiter_index > 0) {
    const std::array<std::string_view, 2> idents{effect.request->at(0), effect.engine.text};
    SharedFrames reply = SharedMemoryDesk::as_it_came(effect.reply);
    const bool is_lost = client_.reply(idents, *reply, Clock::now());
    if (is_lost) shared_.memory.drop(effect.reply);
    replies_.sent(signature_of(effect.request, effect.delimiter_index),
                  is_lost ? nullptr : std::move(reply));
  } else {
    shared_.memory.drop(effect.reply);
  }
  shared_.hub.post(TaskFinished{std::move(effect.engine), std::move(effect.msg_id),
                                std::move(effect.reply), effect.outcome == TaskOutcome::aborted});
}

void TaskRelay::operator()(FailTask& effect) {
  const Frames& request = *effect.request;
  const WallTime now = wall_now();
  Draft draft;
  const std::string client{client_of(request, effect.delimiter_index)};
  draft.idents = {client};
  if (!effect.engine.empty()) {
    draft.idents.push_back(effect.engine.text);
    draft.metadata =
        Json{{"status", "error"}, {"engine", effect.engine.text}, {"date", format_date(now)}};
  }
  draft.msg_type = "apply_reply";
  draft.parent_header = std::string(request.at(effect.delimiter_index + 2));
  draft.content = error_content(effect.error_name, effect.error_value,
                                {effect.error_name + ": " + effect.error_value});
  std::vector<std::string> frames = shared_.session.compose(draft, now);
  if (effect.delimiter_index > 0) client_.socket().send(frames);
  // The hub wants it as an engine's reply would have come: [engine, client, delimiter, ...].
  if (!effect.engine.empty()) std::swap(frames[0], frames[1]);
  const auto reply = std::make_shared<TextFrames>(std::move(frames));
  if (effect.delimiter_index > 0)
    replies_.sent(signature_of(effect.request, effect.delimiter_index), reply);
  shared_.hub.post(TaskFinished{std::move(effect.engine), std::move(effect.msg_id), reply});
}

}  // namespace px::controller
